#include <bit>

#include "core/circuit/kinds.h"

namespace cuzk::circuit {
namespace {

Status Invalid(const std::string& text) { return absl::InvalidArgumentError(text); }

Status CheckCount(std::string_view what, uint64_t is, uint64_t want) {
  if (is == want) return absl::OkStatus();
  return Invalid(StrCat(what, ": ", is, " instead of ", want));
}

Status CheckPath(std::string_view name, const PathInputs& path, uint64_t leaves, uint64_t siblings) {
  CUZK_RETURN_IF_ERROR(CheckCount(StrCat(name, ": siblings"), path.siblings.size(), siblings));
  if (path.leaf_index >= leaves)
    return Invalid(StrCat(name, ": leaf index ", path.leaf_index, " is not below ", leaves));
  return absl::OkStatus();
}

Status CheckChallenge(const PorepSpec& spec, const PorepChallenge& challenge) {
  const uint64_t leaves = spec.replica_tree.leaves, siblings = spec.replica_tree.SiblingCount();
  CUZK_RETURN_IF_ERROR(
      CheckPath("comm_d path", challenge.comm_d_path, spec.data_tree.leaves, spec.data_tree.SiblingCount()));
  for (uint32_t i = 0; i < kPorepParents; ++i) {
    const PorepColumn& parent = challenge.parents[i];
    CUZK_RETURN_IF_ERROR(CheckCount(StrCat("parent ", i, ": labels"), parent.labels.size(), spec.layers));
    CUZK_RETURN_IF_ERROR(CheckPath(StrCat("parent ", i, ": comm_c path"), parent.comm_c_path, leaves, siblings));
  }
  if (!challenge.claimed_labels.empty()) {
    CUZK_RETURN_IF_ERROR(CheckCount("claimed labels", challenge.claimed_labels.size(), spec.layers));
  }
  CUZK_RETURN_IF_ERROR(CheckPath("comm_r_last path", challenge.comm_r_last_path, leaves, siblings));
  return CheckPath("comm_c path", challenge.comm_c_path, leaves, siblings);
}

Status CheckTree(const TreeShape& tree) {
  auto arity = [](uint32_t k, bool optional) { return (optional && k == 0) || k == 2 || k == 4 || k == 8; };
  const bool arities = arity(tree.base, false) && arity(tree.sub, true) && arity(tree.top, true);
  if (!arities || (tree.top != 0 && tree.sub == 0) || !std::has_single_bit(tree.leaves)) {
    return Invalid(
        StrCat("there is no tree of ", tree.leaves, " leaves and arities ", tree.base, "-", tree.sub, "-", tree.top));
  }
  uint64_t leaves = 1;
  for (uint32_t k : tree.Levels()) leaves *= k;
  if (leaves == tree.leaves) return absl::OkStatus();
  return Invalid(StrCat("arities ", tree.base, "-", tree.sub, "-", tree.top, " do not give ", tree.leaves, " leaves"));
}

Status CheckOne(const PorepSpec& spec) {
  CUZK_RETURN_IF_ERROR(CheckTree(spec.data_tree));
  CUZK_RETURN_IF_ERROR(CheckTree(spec.replica_tree));
  if (spec.data_tree.base != 2 || spec.data_tree.sub != 0) return Invalid("tree D is not binary");
  if (spec.layers != 2 && spec.layers != 11) return Invalid(StrCat("there is no circuit of ", spec.layers, " layers"));
  if (spec.challenges == 0) return Invalid("a circuit has at least one challenge");
  return absl::OkStatus();
}

Status CheckOne(const PostSpec& spec) {
  CUZK_RETURN_IF_ERROR(CheckTree(spec.replica_tree));
  if (spec.challenges == 0 || spec.sectors == 0) return Invalid("a circuit has at least one sector and challenge");
  return absl::OkStatus();
}

Status CheckOne(const UpdateSpec& spec) {
  CUZK_RETURN_IF_ERROR(CheckTree(spec.replica_tree));
  if (spec.challenges == 0) return Invalid("a circuit has at least one challenge");
  if (spec.partition_bits + spec.apex_bits >= spec.ChallengeBits())
    return Invalid("partitions and apex exceed the tree");
  for (uint32_t h : spec.h_values) {
    if (h > spec.ChallengeBits()) return Invalid(StrCat("h = ", h, " exceeds a challenge"));
  }
  return absl::OkStatus();
}

}  // namespace

Status CheckSpec(const CircuitSpec& spec) {
  return std::visit([](const auto& one) { return CheckOne(one); }, spec);
}

Status CheckInputs(const PorepSpec& spec, const PorepInputs& inputs) {
  CUZK_RETURN_IF_ERROR(CheckCount("challenges", inputs.challenges.size(), spec.challenges));
  for (size_t i = 0; i < inputs.challenges.size(); ++i) {
    CUZK_RETURN_IF_ERROR(Annotate(CheckChallenge(spec, inputs.challenges[i]), StrCat("challenge ", i)));
  }
  return absl::OkStatus();
}

Status CheckInputs(const PostSpec& spec, const PostInputs& inputs) {
  if (inputs.sectors.empty() || inputs.sectors.size() > spec.sectors) {
    return Invalid(StrCat("sectors: ", inputs.sectors.size(), " instead of 1 to ", spec.sectors));
  }
  const uint64_t leaves = spec.replica_tree.leaves, siblings = spec.replica_tree.SiblingCount();
  for (size_t i = 0; i < inputs.sectors.size(); ++i) {
    const auto& challenges = inputs.sectors[i].challenges;
    const PostSectorName& name = inputs.sectors[i].name;
    const std::string where = StrCat("sector ", name.number, " (item ", name.item, "), ");
    CUZK_RETURN_IF_ERROR(CheckCount(where + "challenges", challenges.size(), spec.challenges));
    for (size_t j = 0; j < challenges.size(); ++j) {
      CUZK_RETURN_IF_ERROR(CheckPath(StrCat(where, "comm_r_last path of challenge ", name.first_challenge + j),
                                     challenges[j].comm_r_last_path, leaves, siblings));
    }
  }
  return absl::OkStatus();
}

Status CheckInputs(const UpdateSpec& spec, const UpdateInputs& inputs) {
  CUZK_RETURN_IF_ERROR(CheckCount("challenges", inputs.challenges.size(), spec.challenges));
  CUZK_RETURN_IF_ERROR(CheckCount("apex leaves", inputs.apex_leaves.size(), uint64_t{1} << spec.apex_bits));
  CUZK_RETURN_IF_ERROR(CheckCount("partition siblings", inputs.partition_siblings.size(), spec.partition_bits));
  if (inputs.partition >> spec.partition_bits != 0) return Invalid(StrCat("there is no partition ", inputs.partition));
  if (inputs.h_index >= kUpdateHValues) return Invalid(StrCat("there is no h of index ", inputs.h_index));
  const uint64_t leaves = spec.replica_tree.leaves, siblings = spec.replica_tree.SiblingCount();
  const uint32_t data_levels = spec.ChallengeBits() - spec.partition_bits - spec.apex_bits;
  for (size_t i = 0; i < inputs.challenges.size(); ++i) {
    const UpdateChallenge& challenge = inputs.challenges[i];
    const std::string where = StrCat("challenge ", i);
    CUZK_RETURN_IF_ERROR(Annotate(CheckPath("old replica path", challenge.path_old, leaves, siblings), where));
    CUZK_RETURN_IF_ERROR(Annotate(CheckPath("new replica path", challenge.path_new, leaves, siblings), where));
    CUZK_RETURN_IF_ERROR(
        CheckCount(StrCat(where, ": data path: siblings"), challenge.data_path.siblings.size(), data_levels));
  }
  return absl::OkStatus();
}

}  // namespace cuzk::circuit
