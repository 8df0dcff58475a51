#pragma once
// Witnesses that are not kept in memory: written stretch by stretch and passed to a sink, or only hashed.

#include <array>
#include <functional>
#include <vector>

#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/progress.h"
#include "core/circuit/circuit.h"

namespace cuzk::circuit {

/// Receives one stretch at a time, in order: the head, groups of blocks, and last the input rows. A view is valid only
/// during the call. Called from the thread that streams.
using WitnessSink = std::function<void(const r1cs::WitnessView&)>;

struct StreamOptions {
  r1cs::Layout layout = r1cs::Layout::kNarrow;
  /// The most that a stretch takes, but at least one block (36 MB of a 32 GiB PoRep, 7 MB of a WindowPoSt sector, in
  /// the narrow layout).
  uint64_t stretch_bytes = uint64_t{64} << 20;
  algebra::Arithmetic arithmetic = algebra::BestArithmetic();
};
/// What a witness is made of.
struct WitnessSource {
  const CircuitSpec& spec;
  const r1cs::Shape& shape;
  const PartitionInputs& inputs;
};
/// Writes the witness stretch by stretch. Errors as WriteWitness; the sink has then seen only what came before.
Status StreamWitness(const WitnessSource& source, const StreamOptions& options, const WitnessSink& sink,
                     ThreadPool& pool);

/// BLAKE2s-256 over canonical 32-byte little-endian elements: of the whole vector, and of each chunk.
struct VectorDigest {
  uint64_t length = 0;
  Bytes32 blake2s{};
  std::vector<Bytes32> chunks;
};
struct WitnessDigest {
  std::vector<Fr> inputs;  ///< themselves, ONE first
  VectorDigest inputs_digest, aux;
  std::array<VectorDigest, r1cs::kMatrixCount> rows;  ///< a, b, c, input rows included
};

struct WitnessDigestOptions {
  uint64_t chunk_elements = uint64_t{1} << 20;
  algebra::Arithmetic arithmetic = algebra::BestArithmetic();
  Progress progress;  ///< in rows
};
/// Streams the witness in the narrow layout and hashes it; about 200 MB besides the shape.
StatusOr<WitnessDigest> DigestWitness(const WitnessSource& source, const WitnessDigestOptions& options,
                                      ThreadPool& pool);

}  // namespace cuzk::circuit
