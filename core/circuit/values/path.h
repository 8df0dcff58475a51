#pragma once
// Merkle trees as the circuits see them.

#include <cstdint>
#include <vector>

#include "core/algebra/field/fr.h"

namespace cuzk::circuit {

using algebra::Fr;

/// The shape of a tree: `leaves` = 2^k, arities of base, sub and top (sub and top 0 where absent; every arity 2, 4 or
/// 8).
struct TreeShape {
  uint64_t leaves = 0;
  uint32_t base = 0, sub = 0, top = 0;

  /// The arity of each level of a path, bottom to top: base levels, then one of sub, then one of top.
  std::vector<uint32_t> Levels() const;
  /// The number of siblings of a path: the sum of arity - 1.
  uint32_t SiblingCount() const;
  friend bool operator==(const TreeShape&, const TreeShape&) = default;
};

/// One path, bottom to top.
struct PathInputs {
  /// Level by level arity - 1 siblings, in the group's order, without the path's own node.
  std::vector<Fr> siblings;
  /// The leaf's index. Its digits to the bases of the levels, least significant first, are the places of the path's
  /// node in each group; it is also the public input of the path.
  uint64_t leaf_index = 0;
};

}  // namespace cuzk::circuit
