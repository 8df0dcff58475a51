#include "core/filecoin/public_inputs.h"

#include "core/base/check.h"
#include "core/filecoin/challenges.h"
#include "core/filecoin/types/digest.h"

namespace cuzk::filecoin {

using algebra::Fr;

std::vector<uint64_t> PorepPartitionChallenges(const PorepPublic& facts, uint32_t partition) {
  const SizeRow& size = facts.proof->size();
  uint32_t challenges = PorepCountsOf(size).challenges;
  return PorepChallenges({facts.replica_id, facts.comm_r, facts.seed, size.nodes(), facts.proof->feature},
                         partition * challenges, challenges);
}

std::vector<Fr> PorepPublicInputs(const PorepPublic& facts, const Graph& graph, std::span<const uint64_t> challenges) {
  std::vector<Fr> inputs;
  inputs.reserve(facts.proof->circuit->public_inputs);
  for (const Bytes32* bytes : {&facts.replica_id, &facts.comm_d, &facts.comm_r}) {
    Fr value;
    CUZK_CHECK(ToFr(*bytes, value));
    inputs.push_back(value);
  }
  for (uint64_t challenge : challenges) {
    Fr c = Fr::FromU64(challenge);
    Parents parents = graph.ParentsOf(challenge);
    inputs.push_back(c);
    for (uint64_t parent : parents.drg) inputs.push_back(Fr::FromU64(parent));
    for (uint64_t parent : parents.expander) inputs.push_back(Fr::FromU64(parent));
    inputs.insert(inputs.end(), 3, c);
  }
  return inputs;
}

std::vector<uint64_t> PostSectorChallenges(const PostPublic& facts, uint64_t sector_id, uint64_t position) {
  const SizeRow& size = facts.proof->size();
  PostCounts counts = PostCountsOf(facts.proof->kind, size);
  // Winning's challenges count as those of 66 sectors in a row, which is the same as 66 of one.
  uint64_t first = 0;
  if (facts.proof->version != ApiVersion::kV1_2) {
    first = (uint64_t{facts.partition_index} * counts.sectors + position) * counts.challenges;
  }
  std::vector<uint64_t> challenges;
  for (uint64_t n = 0; n < counts.vanilla_challenges; ++n) {
    challenges.push_back(PostChallenge(facts.randomness, sector_id, first + n, size.nodes()));
  }
  return challenges;
}

std::vector<Fr> PostPublicInputs(const PostPublic& facts, std::span<const PostPublicSector> sectors) {
  PostCounts counts = PostCountsOf(facts.proof->kind, facts.proof->size());
  CUZK_CHECK(!sectors.empty() && sectors.size() <= counts.most_sectors);
  std::vector<Fr> inputs;
  inputs.reserve(facts.proof->circuit->public_inputs);
  for (size_t i = 0; i < sectors.size(); ++i) {
    std::vector<uint64_t> challenges = PostSectorChallenges(facts, sectors[i].id, i);
    for (size_t n = 0; n < challenges.size(); ++n) {
      if (n % counts.challenges == 0) inputs.push_back(sectors[i].comm_r);
      inputs.push_back(Fr::FromU64(challenges[n]));
    }
  }
  const size_t group = 1 + counts.challenges;
  while (inputs.size() < facts.proof->circuit->public_inputs) {
    inputs.push_back(inputs[inputs.size() - group]);
  }
  return inputs;
}

std::vector<Fr> UpdatePublicInputs(const UpdatePublic& facts, uint32_t partition) {
  UpdateCounts counts = UpdateCountsOf(facts.proof->size());
  uint64_t selector = uint64_t{counts.h_select()} << counts.log2_partitions();
  return {Fr::FromU64(selector | partition), facts.comm_r_old, facts.comm_d_new, facts.comm_r_new};
}

}  // namespace cuzk::filecoin
