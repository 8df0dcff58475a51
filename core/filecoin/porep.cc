#include "core/filecoin/porep.h"

#include <utility>

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/filecoin/graph.h"
#include "core/filecoin/types/digest.h"
#include "core/filecoin/types/identifiers.h"

namespace cuzk::filecoin {
namespace {

Status CheckIndex(uint64_t index, uint64_t expected, std::string_view what) {
  if (index == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(what, " is ", index, ", not ", expected));
}

/// What all challenges of a partition share.
struct Commitments {
  Fr comm_d, comm_c, comm_r_last;
};

class ChallengeChecker {
 public:
  ChallengeChecker(const PorepChallengeProof& proof, const Commitments& shared, uint64_t challenge)
      : proof_(proof), shared_(shared), challenge_(challenge) {}

  Status Check(const Parents& parents) const {
    CUZK_RETURN_IF_ERROR(CheckMerkle(proof_.comm_d, shared_.comm_d, "comm_d", "comm_d_proofs"));
    CUZK_RETURN_IF_ERROR(CheckMerkle(proof_.comm_r_last, shared_.comm_r_last, "comm_r_last", "comm_r_last_proof"));
    CUZK_RETURN_IF_ERROR(Annotate(CheckColumn(proof_.column, challenge_), "c_x"));
    for (size_t i = 0; i < kDrgParents; ++i) {
      CUZK_RETURN_IF_ERROR(CheckParent(proof_.drg_parents[i], parents.drg[i], "drg parent ", i));
    }
    for (size_t i = 0; i < kExpanderParents; ++i) {
      CUZK_RETURN_IF_ERROR(CheckParent(proof_.expander_parents[i], parents.expander[i], "exp parent ", i));
    }
    for (size_t layer = 1; layer <= proof_.labeling.size(); ++layer) CUZK_RETURN_IF_ERROR(CheckParents(layer));
    return CheckEncoding();
  }

 private:
  Status CheckMerkle(const MerkleProof& merkle, const Fr& root, std::string_view root_name,
                     std::string_view what) const {
    if (merkle.path.leaf_index != challenge_) {
      return absl::InvalidArgumentError(
          StrCat(what, ": index ", merkle.path.leaf_index, " is not the challenge ", challenge_));
    }
    if (!(merkle.root == root)) return absl::InvalidArgumentError(StrCat(what, ": root is not ", root_name));
    return absl::OkStatus();
  }

  Status CheckColumn(const ColumnProof& column, uint64_t node) const {
    CUZK_RETURN_IF_ERROR(CheckIndex(column.index, node, "column index"));
    CUZK_RETURN_IF_ERROR(CheckIndex(column.inclusion.path.leaf_index, node, "inclusion_proof: index"));
    if (!(column.inclusion.root == shared_.comm_c)) {
      return absl::InvalidArgumentError("inclusion_proof: root is not that of the partition's other columns");
    }
    return absl::OkStatus();
  }

  Status CheckParent(const ColumnProof& column, uint64_t node, std::string_view name, size_t i) const {
    Status status = CheckColumn(column, node);
    return status.ok() ? status : Annotate(std::move(status), StrCat(name, i));
  }

  Status CheckParents(uint64_t layer) const {
    Status status = CheckLabelProof(proof_.labeling[layer - 1], layer);
    return status.ok() ? status : Annotate(std::move(status), StrCat("labeling_proofs ", layer - 1));
  }

  Status CheckLabelProof(const LabelProof& claimed, uint64_t layer) const {
    CUZK_RETURN_IF_ERROR(CheckIndex(claimed.node, challenge_, "node"));
    CUZK_RETURN_IF_ERROR(CheckIndex(claimed.layer, layer, "layer_index"));
    std::vector<Fr> parents = ExpandedParents(proof_, layer);
    for (size_t i = 0; i < kLabelParents; ++i) {
      if (parents[i] == claimed.parents[i]) continue;
      return absl::InvalidArgumentError(StrCat("parents ", i, " is not the label in the parent's column"));
    }
    return absl::OkStatus();
  }

  Status CheckEncoding() const {
    CUZK_RETURN_IF_ERROR(Annotate(CheckLabelProof(proof_.encoding, proof_.labeling.size()), "encoding_proof"));
    if (proof_.comm_r_last.leaf == proof_.column.rows.back() + proof_.comm_d.leaf) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "comm_r_last_proof: leaf is not the encoding of the data (key + leaf of comm_d_proofs)");
  }

  const PorepChallengeProof& proof_;
  const Commitments& shared_;
  uint64_t challenge_;
};

circuit::PorepColumn ToColumn(ColumnProof& proof) {
  return {std::move(proof.rows), std::move(proof.inclusion.path), proof.inclusion.leaf};
}

circuit::PorepChallenge ToInputs(PorepChallengeProof proof, uint64_t challenge) {
  circuit::PorepChallenge inputs;
  inputs.data_leaf = proof.comm_d.leaf;
  inputs.comm_d_path = std::move(proof.comm_d.path);
  for (size_t i = 0; i < kDrgParents; ++i) inputs.parents[i] = ToColumn(proof.drg_parents[i]);
  for (size_t i = 0; i < kExpanderParents; ++i) {
    inputs.parents[kDrgParents + i] = ToColumn(proof.expander_parents[i]);
  }
  inputs.challenge = challenge;
  inputs.comm_r_last_path = std::move(proof.comm_r_last.path);
  inputs.comm_c_path = std::move(proof.column.inclusion.path);
  inputs.claimed_labels = std::move(proof.column.rows);
  inputs.claimed_column_hash = proof.column.inclusion.leaf;
  return inputs;
}

StatusOr<Partition> MakePartition(std::vector<PorepChallengeProof> proofs, const PorepPublic& facts, const Graph& graph,
                                  uint32_t index) {
  std::vector<uint64_t> challenges = PorepPartitionChallenges(facts, index);
  CUZK_CHECK(challenges.size() == proofs.size());
  Partition partition{index, {}, PorepPublicInputs(facts, graph, challenges)};
  circuit::PorepInputs inputs;
  inputs.replica_id = partition.public_inputs[0];
  inputs.comm_d = partition.public_inputs[1];
  inputs.comm_r = partition.public_inputs[2];
  inputs.comm_r_last = proofs[0].comm_r_last.root;
  inputs.comm_c = proofs[0].column.inclusion.root;
  Commitments shared{inputs.comm_d, inputs.comm_c, inputs.comm_r_last};
  for (size_t i = 0; i < proofs.size(); ++i) {
    Status status = ChallengeChecker(proofs[i], shared, challenges[i]).Check(graph.ParentsOf(challenges[i]));
    if (!status.ok()) return Annotate(std::move(status), StrCat("partition ", index, ", challenge ", i));
    inputs.challenges.push_back(ToInputs(std::move(proofs[i]), challenges[i]));
  }
  partition.inputs = std::move(inputs);
  return partition;
}

}  // namespace

Bytes32 Label(const Bytes32& replica_id, uint64_t layer, uint64_t node, std::span<const Fr> parents) {
  CUZK_CHECK(parents.size() == kLabelParents);
  std::array<uint8_t, 32 * (2 + kLabelParents)> message{};
  std::copy(replica_id.begin(), replica_id.end(), message.begin());
  StoreBe(message.data() + 32, static_cast<uint32_t>(layer));
  StoreBe(message.data() + 36, node);
  for (size_t i = 0; i < kLabelParents; ++i) {
    Fr::Canonical value = parents[i].ToCanonical();
    for (size_t k = 0; k < 4; ++k) StoreLe(message.data() + 32 * (2 + i) + 8 * k, value[k]);
  }
  return ClearTopBits(Sha256(message));
}

std::vector<Fr> ExpandedParents(const PorepChallengeProof& proof, uint64_t layer) {
  std::vector<Fr> parents;
  for (const ColumnProof& parent : proof.drg_parents) parents.push_back(parent.rows[layer - 1]);
  if (layer > 1) {
    for (const ColumnProof& parent : proof.expander_parents) parents.push_back(parent.rows[layer - 2]);
  }
  size_t distinct = parents.size();
  for (size_t i = distinct; i < kLabelParents; ++i) parents.push_back(parents[i % distinct]);
  return parents;
}

StatusOr<std::vector<Partition>> MakePorepPartitions(PorepVanilla vanilla, uint64_t miner_id, uint64_t sector_number) {
  PorepPublic facts{vanilla.proof, vanilla.replica_id, vanilla.comm_d, vanilla.comm_r, vanilla.seed};
  Bytes32 replica_id =
      ReplicaId({miner_id, sector_number, vanilla.ticket, vanilla.comm_d, PorepId(vanilla.proof->number)});
  if (vanilla.replica_id != replica_id) {
    return absl::InvalidArgumentError(StrCat("replica_id does not follow from miner ", miner_id, ", sector ",
                                             sector_number, ", ticket, comm_d and ", vanilla.proof->name));
  }
  Graph graph(*vanilla.proof);
  std::vector<Partition> partitions;
  for (size_t k = 0; k < vanilla.partitions.size(); ++k) {
    CUZK_ASSIGN_OR_RETURN(Partition partition,
                          MakePartition(std::move(vanilla.partitions[k]), facts, graph, static_cast<uint32_t>(k)));
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

}  // namespace cuzk::filecoin
