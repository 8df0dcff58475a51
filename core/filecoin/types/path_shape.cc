#include "core/filecoin/types/path_shape.h"

namespace cuzk::filecoin {

PathShape::PathShape(const circuit::TreeShape& tree) {
  uint64_t weight = 1;
  for (uint32_t arity : tree.Levels()) {
    levels_.push_back({arity, static_cast<uint32_t>(siblings_), weight});
    siblings_ += arity - 1;
    weight *= arity;
  }
  const size_t above = size_t{tree.sub != 0} + size_t{tree.top != 0};
  for (size_t end = levels_.size() - above; end <= levels_.size(); ++end) sections_.push_back(end);
}

}  // namespace cuzk::filecoin
