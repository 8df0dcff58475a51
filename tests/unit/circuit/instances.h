#pragma once
// Small instances that satisfy every relation, for tests: whole trees over random leaves.

#include <vector>

#include "core/circuit/circuit.h"

namespace cuzk::circuit {

/// A tree whose nodes are all kept.
class WholeTree {
 public:
  /// Poseidon, or SHA-256 where `binary_sha` is set; leaves.size() = shape.leaves.
  WholeTree(const TreeShape& shape, std::vector<Fr> leaves, bool binary_sha);
  Fr root() const { return levels_.back()[0]; }
  const Fr& leaf(uint64_t i) const { return levels_[0][i]; }
  /// The node `i` of the row `level` above the leaves.
  const Fr& node(size_t level, uint64_t i) const { return levels_[level][i]; }
  PathInputs Path(uint64_t leaf) const;

 private:
  TreeShape shape_;
  std::vector<std::vector<Fr>> levels_;
};

/// SHA-256 of two elements as tree D has it: the top two bits of the last byte cleared.
Fr ShaPair(const Fr& left, const Fr& right);
/// The label of a node, from its parents' labels (6 or 14 of them).
Fr Label(const Fr& replica_id, uint32_t layer, uint64_t node, const std::vector<Fr>& parents);

/// Equal seeds make equal instances.
PorepInputs MakePorep(const PorepSpec& spec, uint64_t seed);
PostInputs MakePost(const PostSpec& spec, uint64_t seed);
UpdateInputs MakeUpdate(const UpdateSpec& spec, uint64_t seed);

/// Shapes of circuits that the reference can build and the network does not use.
PorepSpec SmallPorep(const TreeShape& replica);
PostSpec SmallPost();
UpdateSpec SmallUpdate();  // 1 KiB

}  // namespace cuzk::circuit
