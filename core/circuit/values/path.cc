#include "core/circuit/values/path.h"

#include <bit>

namespace cuzk::circuit {

std::vector<uint32_t> TreeShape::Levels() const {
  std::vector<uint32_t> levels;
  const uint64_t base_leaves = leaves / (sub == 0 ? 1 : sub) / (top == 0 ? 1 : top);
  for (uint64_t nodes = base_leaves; nodes > 1; nodes /= base) levels.push_back(base);
  if (sub != 0) levels.push_back(sub);
  if (top != 0) levels.push_back(top);
  return levels;
}

uint32_t TreeShape::SiblingCount() const {
  uint32_t count = 0;
  for (uint32_t arity : Levels()) count += arity - 1;
  return count;
}

}  // namespace cuzk::circuit
