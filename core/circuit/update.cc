#include "core/circuit/update.h"

#include <bit>

#include "core/circuit/poseidon/poseidon.h"
#include "core/circuit/update_circuit.h"

namespace cuzk::circuit {

uint32_t UpdateSpec::ChallengeBits() const { return static_cast<uint32_t>(std::countr_zero(replica_tree.leaves)); }

std::vector<uint64_t> UpdateChallenges(const UpdateSpec& spec, const Fr& comm_r_new, uint32_t partition) {
  const uint32_t bits = spec.ChallengeBits() - spec.partition_bits;
  const ChallengeCut cut(spec.challenges, bits);
  std::vector<uint64_t> challenges;
  for (uint32_t j = 0; j < cut.digests; ++j) {
    const Fr number = Fr::FromU64(uint64_t{partition} * cut.digests + j);
    const Fr::Canonical digest = PoseidonRandomness(comm_r_new, number).ToCanonical();
    for (uint32_t i = 0; i < cut.per_digest && challenges.size() < spec.challenges; ++i) {
      uint64_t drawn = 0;
      for (uint32_t b = 0; b < bits; ++b) {
        const uint32_t at = i * bits + b;
        drawn |= (digest[at / 64] >> (at % 64) & 1) << b;
      }
      challenges.push_back(drawn | uint64_t{partition} << bits);
    }
  }
  return challenges;
}

}  // namespace cuzk::circuit
