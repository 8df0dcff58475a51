#pragma once
// The circuits by their shape parameters, and the three readings of each: shape, rows, witness.

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/progress.h"
#include "core/base/status.h"
#include "core/base/thread_pool.h"
#include "core/circuit/porep.h"
#include "core/circuit/post.h"
#include "core/circuit/update.h"
#include "core/memory/pinned_pool.h"
#include "core/r1cs/layout.h"
#include "core/r1cs/recorder.h"
#include "core/r1cs/shape.h"
#include "core/r1cs/variable.h"
#include "core/r1cs/witness.h"

namespace cuzk::circuit {

using CircuitSpec = std::variant<PorepSpec, PostSpec, UpdateSpec>;
using PartitionInputs = std::variant<PorepInputs, PostInputs, UpdateInputs>;

/// INVALID_ARGUMENT if no circuit has these parameters (arity not 2, 4 or 8, layers not 2 or 11, no challenges, …).
Status CheckSpec(const CircuitSpec& spec);

/// Counts, densities, classes and blocks. A 32 GiB shape takes seconds and about 150 MB; of its blocks one is recorded.
StatusOr<std::shared_ptr<const r1cs::Shape>> MakeShape(const CircuitSpec& spec);

/// Records the whole circuit on one recorder, from its beginning, in the calling thread.
Status RecordCircuit(const CircuitSpec& spec, r1cs::ShapeRecorder& recorder);

/// One chunk of rows of the digest (docs/FORMATS.md).
struct ChunkDigest {
  uint64_t first_row = 0;
  Bytes32 blake2s{};       ///< over the chunk's row bytes
  std::string first_name;  ///< namespace path of the chunk's first row
};
struct CircuitDigest {
  r1cs::ShapeCounts counts;
  Bytes32 blake2s{};  ///< of the whole circuit; unset if it was cut short
  uint64_t chunk_rows = 0;
  std::vector<ChunkDigest> chunks;
};
/// The chunk size of the reference: the smallest power of two that is at least rows / 512 and 256.
uint64_t ChunkRowsFor(uint64_t rows);

struct DigestOptions {
  /// The number of chunks after which to stop; 0: the whole circuit.
  uint64_t max_chunks = 0;
  Progress progress;  ///< in rows
};
/// Streams the circuit and hashes it, in bounded memory (below 256 MiB for every size). The whole digest is one
/// sequential hash; rows and chunk digests are made by the pool's other threads.
StatusOr<CircuitDigest> DigestCircuit(const CircuitSpec& spec, const DigestOptions& options, ThreadPool& pool);

/// The namespace path of a row, such as "challenge 0/comm_d path/level 0/…". NOT_FOUND past the end.
StatusOr<std::string> NameOfRow(const CircuitSpec& spec, uint64_t row);
/// The same of the row that is made next after an aux variable.
StatusOr<std::string> NameOfAux(const CircuitSpec& spec, uint64_t aux);

/// The destination of a witness, and its layout there.
struct WitnessPlace {
  std::shared_ptr<const r1cs::Shape> shape;
  r1cs::Layout layout;
  memory::Lease lease;  ///< holds LeaseLayout::For(*shape, layout).bytes
};

/// Computes the assignment and evaluates a, b and c in place, in the lease. All threads of the pool write blocks; one
/// is enough. `arithmetic` affects the speed, never the result.
///
/// INVALID_ARGUMENT if the inputs do not have the spec's counts and lengths, or if a relation that the circuit closes
/// does not hold: the text names challenge and relation ("challenge 7: comm_r_last path: does not lead to its root"; of
/// several, the first in the circuit's order). Of a PoSt all bad sectors are named (BadSectorsOf). The public inputs
/// end up in Witness::inputs().
StatusOr<r1cs::Witness> WriteWitness(const CircuitSpec& spec, const PartitionInputs& inputs, WitnessPlace place,
                                     ThreadPool& pool, algebra::Arithmetic arithmetic = algebra::BestArithmetic());

/// Assigns the same way and checks every row; names the first that does not hold. For tests and audits: tens of times
/// slower, 32 bytes per variable.
Status CheckSatisfied(const CircuitSpec& spec, const PartitionInputs& inputs);

}  // namespace cuzk::circuit
