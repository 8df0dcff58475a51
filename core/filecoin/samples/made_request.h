#pragma once
// Requests of any size that satisfy every relation, without sealing: each Merkle tree is constant except for the nodes
// that the proof opens. For demos, benchmarks, sizing and tests; they represent no stored data.

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/filecoin/types/request.h"
#include "core/filecoin/types/vanilla.h"

namespace cuzk::filecoin {

struct MadeOptions {
  uint64_t seed = 0;  // equal seeds make equal requests
  uint64_t miner_id = 1000;
  uint64_t sector_number = 1;    // the first one, for window
  uint32_t sectors = 0;          // window: how many; 0: as many as the circuit has
  uint32_t partition_index = 0;  // window of the first version
};

/// A made request and the public values that its request.json holds.
struct MadeRequest {
  VanillaRequest request;
  const RegisteredProof* proof;
  PorepVanilla porep;                                 // PoRep: commitments, ticket and seed (no partitions)
  std::vector<std::pair<uint64_t, Bytes32>> sectors;  // PoSt: id and comm_r
  uint64_t seed = 0;
};

/// InvalidArgument for options that do not fit. The request is parsed and every relation checked before it is returned.
/// One thread; seconds for the largest sizes.
StatusOr<MadeRequest> MakeRequest(const RegisteredProof& proof, const MadeOptions& options);

/// The registered proof that `sector make` uses for a kind and size: PoRep V1_1, window V1_2. InvalidArgument where the
/// network registers none.
StatusOr<const RegisteredProof*> ProofToMake(const Circuit& circuit);

/// Whether a made request may be written there: the directory has none of its files, or those of a made request.
bool HoldsNoOtherRequest(const std::filesystem::path& directory);
/// Writes a request directory; `directory` is made if need be.
Status WriteRequestDirectory(const MadeRequest& made, const std::filesystem::path& directory);

}  // namespace cuzk::filecoin
