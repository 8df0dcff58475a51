#include "core/filecoin/samples/made_tree.h"

#include <set>

#include "core/base/check.h"
#include "core/filecoin/merkle.h"

namespace cuzk::filecoin {
namespace {

/// Leaves below a node of `level`.
uint64_t Width(const PathShape& shape, size_t level) {
  if (level == 0) return 1;
  const PathShape::Level& below = shape.levels()[level - 1];
  return below.weight * below.arity;
}

/// The proof for `leaf` where node(level, index) gives any node.
template <class NodeAt>
MerkleProof MakeProof(const PathShape& shape, uint64_t leaf, NodeAt&& node) {
  MerkleProof proof{node(shape.levels().size(), 0), node(0, leaf), {}};
  proof.path.leaf_index = leaf;
  for (size_t level = 0; level < shape.levels().size(); ++level) {
    uint32_t arity = shape.levels()[level].arity;
    uint64_t index = leaf / shape.levels()[level].weight, first = index / arity * arity;
    for (uint64_t i = first; i < first + arity; ++i) {
      if (i != index) proof.path.siblings.push_back(node(level, i));
    }
  }
  return proof;
}

}  // namespace

SparseTree::SparseTree(const circuit::TreeShape& tree, const Fr& default_leaf, const std::map<uint64_t, Fr>& leaves)
    : shape_(tree), defaults_{default_leaf}, rows_{{leaves.begin(), leaves.end()}} {
  for (const PathShape::Level& level : shape_.levels()) {
    size_t below = defaults_.size() - 1;
    std::vector<Fr> group(level.arity, defaults_.back());
    defaults_.push_back(HashGroup(tree, group));
    std::set<uint64_t> parents;
    for (const auto& [index, value] : rows_.back()) parents.insert(index / level.arity);
    std::unordered_map<uint64_t, Fr> row;
    for (uint64_t parent : parents) {
      for (uint32_t i = 0; i < level.arity; ++i) group[i] = Node(below, parent * level.arity + i);
      row.emplace(parent, HashGroup(tree, group));
    }
    rows_.push_back(std::move(row));
  }
}

const Fr& SparseTree::Node(size_t level, uint64_t index) const {
  auto found = rows_[level].find(index);
  return found == rows_[level].end() ? defaults_[level] : found->second;
}

MerkleProof SparseTree::Prove(uint64_t leaf) const {
  return MakeProof(shape_, leaf, [this](size_t level, uint64_t index) -> const Fr& { return Node(level, index); });
}

RunTree::RunTree(const circuit::TreeShape& tree, const std::vector<Fr>& values)
    : shape_(tree), leaves_per_run_(tree.leaves / values.size()), constant_levels_(0), runs_{values} {
  CUZK_CHECK(leaves_per_run_ * values.size() == tree.leaves);
  const auto& levels = shape_.levels();
  while (constant_levels_ < levels.size() && Width(shape_, constant_levels_ + 1) <= leaves_per_run_) {
    std::vector<Fr> above;
    for (const Fr& value : runs_.back()) {
      above.push_back(HashGroup(tree, std::vector<Fr>(levels[constant_levels_].arity, value)));
    }
    runs_.push_back(std::move(above));
    ++constant_levels_;
  }
  uint64_t width = Width(shape_, constant_levels_);
  std::vector<Fr> row;
  for (uint64_t first = 0; first < tree.leaves; first += width) row.push_back(runs_.back()[first / leaves_per_run_]);
  rows_.push_back(std::move(row));
  for (size_t level = constant_levels_; level < levels.size(); ++level) {
    std::span<const Fr> below = rows_.back();
    std::vector<Fr> above;
    for (size_t i = 0; i < below.size(); i += levels[level].arity) {
      above.push_back(HashGroup(tree, below.subspan(i, levels[level].arity)));
    }
    rows_.push_back(std::move(above));
  }
}

const Fr& RunTree::NodeAbove(size_t level, uint64_t leaf) const {
  if (level < constant_levels_) return runs_[level][leaf / leaves_per_run_];
  return rows_[level - constant_levels_][leaf / Width(shape_, level)];
}

MerkleProof RunTree::Prove(uint64_t leaf) const {
  return MakeProof(shape_, leaf, [this](size_t level, uint64_t index) -> const Fr& {
    return NodeAbove(level, index * Width(shape_, level));
  });
}

}  // namespace cuzk::filecoin
