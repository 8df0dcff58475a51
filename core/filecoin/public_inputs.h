#pragma once
// Public inputs as a verifier computes them: from public values alone, never from a vanilla proof. All vectors are
// without ONE, in the order in which the circuits allocate them, and include the padding of PoSt.

#include <span>
#include <vector>

#include "core/algebra/field/fr.h"
#include "core/base/bytes.h"
#include "core/filecoin/graph.h"
#include "core/filecoin/types/registry.h"

namespace cuzk::filecoin {

struct PorepPublic {
  const RegisteredProof* proof;
  Bytes32 replica_id, comm_d, comm_r, seed;  // all but the seed canonical
};
/// The challenges of one partition.
std::vector<uint64_t> PorepPartitionChallenges(const PorepPublic& facts, uint32_t partition);
/// replica_id, comm_d, comm_r, then for each challenge c: c, its 14 parents, c, c, c.
std::vector<algebra::Fr> PorepPublicInputs(const PorepPublic& facts, const Graph& graph,
                                           std::span<const uint64_t> challenges);

struct PostPublicSector {
  uint64_t id;
  algebra::Fr comm_r;
};
struct PostPublic {
  const RegisteredProof* proof;
  Bytes32 randomness;
  uint32_t partition_index;  // of the API before 1.2; 0 for winning
};
/// The leaf challenges of the sector at `position` within the partition.
std::vector<uint64_t> PostSectorChallenges(const PostPublic& facts, uint64_t sector_id, uint64_t position);
/// For each sector comm_r and its challenges, the last sector repeated until the circuit is full; winning's single
/// sector becomes 66 of one challenge. At least one sector, at most PostCounts::most_sectors.
std::vector<algebra::Fr> PostPublicInputs(const PostPublic& facts, std::span<const PostPublicSector> sectors);

struct UpdatePublic {
  const RegisteredProof* proof;
  algebra::Fr comm_r_old, comm_r_new, comm_d_new;
};
/// Partition number with the selector of h above it, comm_r_old, comm_d_new, comm_r_new.
std::vector<algebra::Fr> UpdatePublicInputs(const UpdatePublic& facts, uint32_t partition);

}  // namespace cuzk::filecoin
