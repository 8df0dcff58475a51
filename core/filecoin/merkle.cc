#include "core/filecoin/merkle.h"

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/circuit/poseidon/poseidon.h"
#include "core/filecoin/types/digest.h"
#include "core/filecoin/types/identifiers.h"
#include "core/filecoin/types/path_shape.h"

namespace cuzk::filecoin {

Fr DataTreeHash(const Fr& left, const Fr& right) {
  uint8_t message[64];
  Bytes32 a = left.ToBytesLe(), b = right.ToBytesLe();
  std::copy(a.begin(), a.end(), message);
  std::copy(b.begin(), b.end(), message + 32);
  Fr parent;
  CUZK_CHECK(ToFr(ClearTopBits(Sha256(message)), parent));
  return parent;
}

Fr HashGroup(const circuit::TreeShape& tree, std::span<const Fr> group) {
  return tree.base == 2 ? DataTreeHash(group[0], group[1]) : circuit::PoseidonHash(group);
}

Fr RootOf(const circuit::TreeShape& tree, const Fr& leaf, const circuit::PathInputs& path) {
  PathShape shape(tree);
  CUZK_CHECK(path.siblings.size() == shape.siblings());
  Fr node = leaf;
  for (const PathShape::Level& level : shape.levels()) {
    std::vector<Fr> group(path.siblings.begin() + level.first_sibling,
                          path.siblings.begin() + level.first_sibling + level.arity - 1);
    group.insert(group.begin() + static_cast<ptrdiff_t>(path.leaf_index / level.weight % level.arity), node);
    node = HashGroup(tree, group);
  }
  return node;
}

}  // namespace cuzk::filecoin
