#pragma once
// What a request becomes: the partitions that are proved one by one.

#include <cstdint>
#include <vector>

#include "core/circuit/circuit.h"
#include "core/filecoin/types/registry.h"
#include "core/filecoin/types/request.h"

namespace cuzk::filecoin {

/// The circuit's shape parameters.
circuit::CircuitSpec SpecOf(const Circuit& circuit);

/// One partition, ready for circuit::WriteWitness. `public_inputs` are the ones that a verifier computes, without ONE,
/// padding included; the witness must end up with the same.
struct Partition {
  uint32_t index = 0;
  circuit::PartitionInputs inputs;
  std::vector<algebra::Fr> public_inputs;
};

/// A request read to the end.
struct ParsedRequest {
  const RegisteredProof* proof;  // for PoRep the one that the C1 names
  std::vector<Partition> partitions;
};

struct ParseOptions {
  /// Non-interactive C1s can be read and their witnesses written; their proofs wait for aggregates.
  bool allow_non_interactive = false;
};

/// Checks the message fields (CheckRequest), reads the vanilla proofs, and checks every relation that the circuit does
/// not close itself; circuit::WriteWitness notices the others. The request's bytes are freed on the way. One thread; a
/// 32 GiB PoRep takes less than a second. Errors are InvalidArgument, or Unimplemented for non-interactive proofs, and
/// say where: "partition 3, challenge 7: comm_r_last_proof: level 4: …". Of a PoSt every bad sector is named, whichever
/// of the relations it breaks (circuit::BadSectorsOf has their numbers).
StatusOr<ParsedRequest> ParseRequest(VanillaRequest request, const ParseOptions& options = {});

}  // namespace cuzk::filecoin
