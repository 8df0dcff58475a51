#pragma once
// Which nodes each proof is challenged on, recomputed from public values only.

#include <cstdint>
#include <vector>

#include "core/algebra/field/fr.h"
#include "core/base/bytes.h"
#include "core/filecoin/types/registry.h"

namespace cuzk::filecoin {

/// What PoRep challenges depend on.
struct PorepChallengeFacts {
  Bytes32 replica_id;
  Bytes32 comm_r;  // synthetic and non-interactive
  Bytes32 seed;    // interactive and synthetic
  uint64_t nodes;
  PorepFeature feature;
};
/// Challenges number first, first+1, … of the whole proof, `count` of them; each is in 1 … nodes-1.
std::vector<uint64_t> PorepChallenges(const PorepChallengeFacts& facts, uint32_t first, uint32_t count);

/// The whole pool that synthetic challenges are chosen from (for tests; PorepChallenges computes single entries).
std::vector<uint64_t> SyntheticPool(const Bytes32& replica_id, const Bytes32& comm_r, uint64_t nodes, uint32_t size);
/// Which entries of a pool are chosen (for tests).
std::vector<uint64_t> SyntheticSelection(const Bytes32& replica_id, const Bytes32& seed, uint32_t pool_size,
                                         uint32_t count);

/// The PoSt leaf challenge of a sector for one challenge index. The index is n in API 1.2, else
/// sector_index * challenges + n with the sector's position counted over all partitions.
uint64_t PostChallenge(const Bytes32& randomness, uint64_t sector_id, uint64_t challenge_index, uint64_t nodes);

/// The challenges of one partition of a sector update.
std::vector<uint64_t> UpdateChallenges(const algebra::Fr& comm_r_new, uint32_t partition, const SizeRow& size);
/// phi = H(tag 2^40)(comm_d_new, comm_r_old).
algebra::Fr UpdatePhi(const algebra::Fr& comm_d_new, const algebra::Fr& comm_r_old);
/// rho = H(tag 2^40)(phi, the high bits of the challenge); new label = old label + data * rho.
algebra::Fr UpdateRho(const algebra::Fr& phi, uint64_t challenge, const SizeRow& size);

}  // namespace cuzk::filecoin
