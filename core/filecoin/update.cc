#include "core/filecoin/update.h"

#include <bit>

#include "core/filecoin/format/bincode_reader.h"
#include "core/filecoin/merkle.h"
#include "core/filecoin/types/digest.h"

namespace cuzk::filecoin {
namespace {

/// What is compared in each challenge of a partition.
struct Shared {
  Fr root_old, root_new, comm_d_new;
  size_t first_apex_level;             // of a data path: below are the levels the circuit hashes
  std::vector<std::vector<Fr>> apex;   // rows of the apex leaves' tree, leaves first, without its root
  std::vector<Fr> partition_siblings;  // of data paths, above the apex root
};

Status CheckDataPath(const MerkleProof& proof, const Shared& shared) {
  if (!(proof.root == shared.comm_d_new)) return absl::InvalidArgumentError("root is not comm_d_new");
  uint64_t node = proof.path.leaf_index >> shared.first_apex_level;
  size_t level = shared.first_apex_level;
  for (const std::vector<Fr>& row : shared.apex) {
    if (!(proof.path.siblings[level] == row[(node & (row.size() - 1)) ^ 1])) {
      return absl::InvalidArgumentError(StrCat("level ", level, ": sibling is not a node above the apex leaves"));
    }
    ++level;
    node >>= 1;
  }
  for (const Fr& sibling : shared.partition_siblings) {
    if (!(proof.path.siblings[level] == sibling)) {
      return absl::InvalidArgumentError(
          StrCat("level ", level, ": sibling is not that of the partition's other data paths"));
    }
    ++level;
  }
  return absl::OkStatus();
}

Status CheckChallenge(const UpdateChallengeProof& proof, const Shared& shared) {
  if (!(proof.r_old.root == shared.root_old))
    return absl::InvalidArgumentError("proof_r_old: root is not that of the other challenges");
  if (!(proof.r_new.root == shared.root_new))
    return absl::InvalidArgumentError("proof_r_new: root is not that of the other challenges");
  uint64_t node = proof.r_old.path.leaf_index;
  for (const auto& [other, name] : {std::pair(&proof.d_new, "proof_d_new"), std::pair(&proof.r_new, "proof_r_new")}) {
    if (other->path.leaf_index == node) continue;
    return absl::InvalidArgumentError(StrCat(name, ": index ", other->path.leaf_index, " is not proof_r_old's ", node));
  }
  return Annotate(CheckDataPath(proof.d_new, shared), "proof_d_new");
}

Shared MakeShared(const UpdateVanilla& vanilla, const UpdatePublic& facts) {
  UpdateCounts counts = UpdateCountsOf(facts.proof->size());
  const UpdateChallengeProof& first = vanilla.challenges[0];
  size_t apex_levels = std::bit_width(counts.apex_leaves) - 1;
  Shared shared{first.r_old.root, first.r_new.root, facts.comm_d_new, 0, {}, {}};
  shared.first_apex_level = first.d_new.path.siblings.size() - counts.log2_partitions() - apex_levels;
  std::vector<Fr> row = vanilla.apex_leaves;
  while (row.size() > 1) {
    std::vector<Fr> above(row.size() / 2);
    for (size_t i = 0; i < above.size(); ++i) above[i] = DataTreeHash(row[2 * i], row[2 * i + 1]);
    shared.apex.push_back(std::move(row));
    row = std::move(above);
  }
  shared.partition_siblings.assign(first.d_new.path.siblings.end() - counts.log2_partitions(),
                                   first.d_new.path.siblings.end());
  return shared;
}

circuit::UpdateChallenge ToInputs(UpdateChallengeProof proof, size_t data_levels) {
  circuit::UpdateChallenge inputs{proof.r_old.leaf, proof.r_new.leaf, proof.d_new.leaf};
  inputs.path_old = std::move(proof.r_old.path);
  inputs.path_new = std::move(proof.r_new.path);
  inputs.data_path = std::move(proof.d_new.path);
  inputs.data_path.siblings.resize(data_levels);
  return inputs;
}

}  // namespace

StatusOr<Partition> MakeUpdatePartition(const UpdatePublic& facts, uint32_t index, ByteSpan item) {
  std::string where = StrCat("partition ", index);
  auto read = ReadUpdateVanilla(*facts.proof->circuit, item);
  if (!read.ok()) return Annotate(read.status(), where);
  UpdateVanilla vanilla = *std::move(read);
  Shared shared = MakeShared(vanilla, facts);
  UpdateCounts counts = UpdateCountsOf(facts.proof->size());
  circuit::UpdateInputs inputs;
  inputs.partition = index;
  inputs.h_index = std::countr_zero(counts.h_select());
  inputs.comm_r_old = facts.comm_r_old;
  inputs.comm_d_new = facts.comm_d_new;
  inputs.comm_r_new = facts.comm_r_new;
  inputs.comm_c = vanilla.comm_c;
  inputs.root_r_old = shared.root_old;
  inputs.root_r_new = shared.root_new;
  inputs.partition_siblings = shared.partition_siblings;
  for (size_t i = 0; i < vanilla.challenges.size(); ++i) {
    Status status = CheckChallenge(vanilla.challenges[i], shared);
    if (!status.ok()) return Annotate(std::move(status), StrCat(where, ", challenge ", i));
    inputs.challenges.push_back(ToInputs(std::move(vanilla.challenges[i]), shared.first_apex_level));
  }
  inputs.apex_leaves = std::move(vanilla.apex_leaves);
  return Partition{index, std::move(inputs), UpdatePublicInputs(facts, index)};
}

}  // namespace cuzk::filecoin
