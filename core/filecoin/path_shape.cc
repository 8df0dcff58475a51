#include "core/filecoin/path_shape.h"

namespace cuzk::filecoin {

PathShape::PathShape(const circuit::TreeShape& tree) {
  uint64_t weight = 1;
  auto add = [&](uint32_t arity) {
    levels_.push_back({arity, static_cast<uint32_t>(siblings_), weight});
    siblings_ += arity - 1;
    weight *= arity;
  };
  uint64_t base_leaves = tree.leaves / (tree.sub == 0 ? 1 : tree.sub) / (tree.top == 0 ? 1 : tree.top);
  for (uint64_t nodes = base_leaves; nodes > 1; nodes /= tree.base) add(tree.base);
  sections_.push_back(levels_.size());
  for (uint32_t arity : {tree.sub, tree.top}) {
    if (arity == 0) continue;
    add(arity);
    sections_.push_back(levels_.size());
  }
}

}  // namespace cuzk::filecoin
