#include "core/filecoin/relations.h"

#include <optional>

#include "core/circuit/poseidon/poseidon.h"
#include "core/filecoin/challenges.h"
#include "core/filecoin/merkle.h"
#include "core/filecoin/porep.h"

namespace cuzk::filecoin {
namespace {

Fr HashPair(const Fr& a, const Fr& b) { return circuit::PoseidonHash(std::array<Fr, 2>{a, b}); }

Status CheckPath(const circuit::TreeShape& tree, const Fr& leaf, const circuit::PathInputs& path, const Fr& root,
                 std::string_view what) {
  if (RootOf(tree, leaf, path) == root) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(what, ": does not lead to its root"));
}

Fr ElementOf(const Bytes32& bytes) { return *Fr::FromBytesLe(bytes); }

/// The labels of the challenged node, layer by layer, from its parents' columns.
std::vector<Fr> LabelsOf(const circuit::PorepChallenge& challenge, const Bytes32& replica_id) {
  std::vector<Fr> labels;
  size_t layers = challenge.parents[0].labels.size();
  for (size_t layer = 1; layer <= layers; ++layer) {
    std::vector<Fr> parents;
    for (size_t i = 0; i < kDrgParents; ++i) parents.push_back(challenge.parents[i].labels[layer - 1]);
    for (size_t i = kDrgParents; layer > 1 && i < circuit::kPorepParents; ++i) {
      parents.push_back(challenge.parents[i].labels[layer - 2]);
    }
    for (size_t i = 0; parents.size() < kLabelParents; ++i) parents.push_back(parents[i]);
    labels.push_back(ElementOf(Label(replica_id, layer, challenge.challenge, parents)));
  }
  return labels;
}

Status CheckClaim(const Fr& column_hash, const std::optional<Fr>& claimed, std::string_view what) {
  if (!claimed || column_hash == *claimed) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(what, ": is not the leaf of its inclusion proof"));
}

/// "drg parent 2", "expander parent 7".
std::string ParentName(size_t i) {
  return i < kDrgParents ? StrCat("drg parent ", i) : StrCat("expander parent ", i - kDrgParents);
}

Status CheckPorepChallenge(const SizeRow& size, const circuit::PorepInputs& inputs,
                           const circuit::PorepChallenge& challenge) {
  circuit::TreeShape tree = size.replica_tree();
  CUZK_RETURN_IF_ERROR(
      CheckPath(size.data_tree(), challenge.data_leaf, challenge.comm_d_path, inputs.comm_d, "comm_d path"));
  for (size_t i = 0; i < circuit::kPorepParents; ++i) {
    const circuit::PorepColumn& parent = challenge.parents[i];
    const std::string name = ParentName(i);
    Fr column = circuit::PoseidonHash(parent.labels);
    CUZK_RETURN_IF_ERROR(CheckClaim(column, parent.claimed_hash, StrCat("column hash of ", name)));
    CUZK_RETURN_IF_ERROR(CheckPath(tree, column, parent.comm_c_path, inputs.comm_c, StrCat("comm_c path of ", name)));
  }
  std::vector<Fr> labels = LabelsOf(challenge, inputs.replica_id.ToBytesLe());
  const std::vector<Fr>& claimed = challenge.claimed_labels;
  for (size_t i = 0; i < claimed.size(); ++i) {
    if (i < labels.size() && labels[i] == claimed[i]) continue;
    return absl::InvalidArgumentError(StrCat("label of layer ", i + 1, ": is not the one that its parents give"));
  }
  Fr encoded = labels.back() + challenge.data_leaf;
  CUZK_RETURN_IF_ERROR(CheckPath(tree, encoded, challenge.comm_r_last_path, inputs.comm_r_last, "comm_r_last path"));
  Fr column = circuit::PoseidonHash(labels);
  CUZK_RETURN_IF_ERROR(CheckClaim(column, challenge.claimed_column_hash, "column hash"));
  return CheckPath(tree, column, challenge.comm_c_path, inputs.comm_c, "comm_c path");
}

Status CheckPorep(const SizeRow& size, const circuit::PorepInputs& inputs) {
  if (!(HashPair(inputs.comm_c, inputs.comm_r_last) == inputs.comm_r)) {
    return absl::InvalidArgumentError("comm_r is not the hash of comm_c and comm_r_last");
  }
  for (size_t i = 0; i < inputs.challenges.size(); ++i) {
    Status status = CheckPorepChallenge(size, inputs, inputs.challenges[i]);
    if (!status.ok()) return Annotate(std::move(status), StrCat("challenge ", i));
  }
  return absl::OkStatus();
}

Status CheckPostSector(const SizeRow& size, const circuit::PostSector& sector) {
  if (!(HashPair(sector.comm_c, sector.comm_r_last) == sector.comm_r)) {
    return absl::InvalidArgumentError("comm_r: is not the hash of comm_c and comm_r_last");
  }
  for (size_t n = 0; n < sector.challenges.size(); ++n) {
    CUZK_RETURN_IF_ERROR(CheckPath(size.replica_tree(), sector.challenges[n].leaf,
                                   sector.challenges[n].comm_r_last_path, sector.comm_r_last,
                                   StrCat("comm_r_last path of challenge ", sector.name.first_challenge + n)));
  }
  return absl::OkStatus();
}

Status CheckPost(const SizeRow& size, const circuit::PostInputs& inputs) {
  std::vector<circuit::BadSector> bad = BrokenSectors(size, inputs);
  return bad.empty() ? absl::OkStatus() : circuit::BadSectorsError(std::move(bad));
}

/// The root that a binary path of any length leads to; takes its turns from `index`.
Fr DataRootOf(Fr node, std::span<const Fr> siblings, uint64_t index) {
  for (const Fr& sibling : siblings) {
    node = index & 1 ? DataTreeHash(sibling, node) : DataTreeHash(node, sibling);
    index >>= 1;
  }
  return node;
}

Status CheckUpdateChallenge(const SizeRow& size, const circuit::UpdateInputs& inputs, size_t i, uint64_t challenge) {
  const circuit::UpdateChallenge& proof = inputs.challenges[i];
  const std::pair<std::string_view, const circuit::PathInputs*> paths[] = {
      {"old path", &proof.path_old}, {"new path", &proof.path_new}, {"data path", &proof.data_path}};
  for (auto [name, path] : paths) {
    if (path->leaf_index == challenge) continue;
    return absl::InvalidArgumentError(StrCat(name, ": index ", path->leaf_index, " is not the challenge ", challenge));
  }
  Fr rho = UpdateRho(UpdatePhi(inputs.comm_d_new, inputs.comm_r_old), challenge, size);
  if (!(proof.leaf_old + proof.leaf_data * rho == proof.leaf_new))
    return absl::InvalidArgumentError("new label is not old + data * rho");
  circuit::TreeShape tree = size.replica_tree();
  CUZK_RETURN_IF_ERROR(CheckPath(tree, proof.leaf_old, proof.path_old, inputs.root_r_old, "old path"));
  CUZK_RETURN_IF_ERROR(CheckPath(tree, proof.leaf_new, proof.path_new, inputs.root_r_new, "new path"));
  Fr apex = DataRootOf(proof.leaf_data, proof.data_path.siblings, challenge);
  uint64_t position = challenge >> proof.data_path.siblings.size();
  if (apex == inputs.apex_leaves[position % inputs.apex_leaves.size()]) return absl::OkStatus();
  return absl::InvalidArgumentError("data path: does not lead to its apex leaf");
}

Status CheckUpdate(const SizeRow& size, const circuit::UpdateInputs& inputs) {
  if (!(HashPair(inputs.comm_c, inputs.root_r_old) == inputs.comm_r_old)) {
    return absl::InvalidArgumentError("comm_r_old is not the hash of comm_c and the old root");
  }
  if (!(HashPair(inputs.comm_c, inputs.root_r_new) == inputs.comm_r_new)) {
    return absl::InvalidArgumentError("comm_r_new is not the hash of comm_c and the new root");
  }
  std::vector<Fr> row = inputs.apex_leaves;
  for (; row.size() > 1; row.resize(row.size() / 2)) {
    for (size_t i = 0; i < row.size() / 2; ++i) row[i] = DataTreeHash(row[2 * i], row[2 * i + 1]);
  }
  if (!(DataRootOf(row[0], inputs.partition_siblings, inputs.partition) == inputs.comm_d_new)) {
    return absl::InvalidArgumentError("the apex leaves do not lead to comm_d_new");
  }
  std::vector<uint64_t> challenges = UpdateChallenges(inputs.comm_r_new, inputs.partition, size);
  for (size_t i = 0; i < challenges.size(); ++i) {
    Status status = CheckUpdateChallenge(size, inputs, i, challenges[i]);
    if (!status.ok()) return Annotate(std::move(status), StrCat("challenge ", i));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<circuit::BadSector> BrokenSectors(const SizeRow& size, const circuit::PostInputs& inputs) {
  std::vector<circuit::BadSector> bad;
  for (const circuit::PostSector& sector : inputs.sectors) {
    const Status status = CheckPostSector(size, sector);
    if (!status.ok()) bad.push_back({sector.name.number, sector.name.item, std::string(status.message())});
  }
  return bad;
}

Status CheckClosedRelations(const Circuit& circuit, const circuit::PartitionInputs& inputs) {
  if (const auto* porep = std::get_if<circuit::PorepInputs>(&inputs)) return CheckPorep(*circuit.size, *porep);
  if (const auto* post = std::get_if<circuit::PostInputs>(&inputs)) return CheckPost(*circuit.size, *post);
  return CheckUpdate(*circuit.size, std::get<circuit::UpdateInputs>(inputs));
}

}  // namespace cuzk::filecoin
