#pragma once
// Merkle paths as rows: picking, inserting a node among its siblings, selecting from a list, inclusion.

#include <bit>
#include <span>
#include <type_traits>
#include <vector>

#include "core/circuit/poseidon/poseidon_gadget.h"
#include "core/circuit/sha256/sha256_gadget.h"
#include "core/circuit/values/bits.h"
#include "core/circuit/values/path.h"

namespace cuzk::circuit {

using r1cs::Relation;

/// What a tree hashes with.
enum class TreeHash : uint8_t { kSha256, kPoseidon };

/// c = condition ? a : b: [b - a] * [condition] = [b - c].
template <class Cs>
Num<Cs> Pick(Cs& cs, const Boolean<Cs>& condition, const Num<Cs>& a, const Num<Cs>& b) {
  Num<Cs> c = cs.AllocateNum(Choose(condition.value(), a.value, b.value));
  typename Cs::Lc left, right;
  left.Add(b).Add(a, -1);
  right.Add(b).Add(c, -1);
  cs.Enforce(std::move(left), condition.ToLc(), std::move(right));
  return c;
}

namespace internal {

template <class Cs>
std::vector<Num<Cs>> InsertAmong8(Cs& cs, const Num<Cs>& x, std::span<const Boolean<Cs>> bits,
                                  std::span<const Num<Cs>> s) {
  using B = Boolean<Cs>;
  const B& b0 = bits[0];
  const B& b1 = bits[1];
  const B& b2 = bits[2];
  const B neither = B::Is(BitNor(cs, b0.bit(), b1.bit()));
  const B both = B::Is(BitAnd(cs, b0.bit(), b1.bit()));
  auto pick = [&cs](const B& condition, const Num<Cs>& yes, const Num<Cs>& no) { return Pick(cs, condition, yes, no); };
  std::vector<Num<Cs>> p;
  p.reserve(8);
  // The lower half if the node is there, else the first four siblings; s[i] is the sibling of place i or i + 1.
  p.push_back(pick(b2, s[0], pick(neither, x, s[0])));
  p.push_back(pick(b2, s[1], pick(b1, s[1], pick(b0, x, s[0]))));
  const Num<Cs> t2 = pick(b0, s[2], x);
  p.push_back(pick(b2, s[2], pick(b1, t2, s[1])));
  p.push_back(pick(b2, s[3], pick(both, x, s[2])));
  p.push_back(pick(b2, pick(neither, x, s[4]), s[3]));
  p.push_back(pick(b2, pick(b1, s[5], pick(b0, x, s[4])), s[4]));
  const Num<Cs> t6 = pick(b0, s[6], x);
  p.push_back(pick(b2, pick(b1, t6, s[5]), s[5]));
  p.push_back(pick(b2, pick(both, x, s[6]), s[6]));
  return p;
}

}  // namespace internal

/// The group of arity siblings.size() + 1 (2, 4 or 8) with x at the place that the bits give, least significant first.
template <class Cs>
std::vector<Num<Cs>> Insert(Cs& cs, const Num<Cs>& x, std::span<const Boolean<Cs>> bits,
                            std::span<const Num<Cs>> siblings) {
  [[maybe_unused]] auto scope = cs.Scope("insert");
  if (siblings.size() == 7) return internal::InsertAmong8(cs, x, bits, siblings);
  std::vector<Num<Cs>> p;
  if (siblings.size() == 1) {
    p.push_back(Pick(cs, bits[0], siblings[0], x));
    p.push_back(Pick(cs, bits[0], x, siblings[0]));
    return p;
  }
  CUZK_CHECK(siblings.size() == 3);
  const auto& s = siblings;
  Num<Cs> t = Pick(cs, bits[0], s[0], x);
  p.push_back(Pick(cs, bits[1], s[0], t));
  t = Pick(cs, bits[0], x, s[0]);
  p.push_back(Pick(cs, bits[1], s[1], t));
  t = Pick(cs, bits[0], s[2], x);
  p.push_back(Pick(cs, bits[1], t, s[1]));
  t = Pick(cs, bits[0], x, s[2]);
  p.push_back(Pick(cs, bits[1], t, s[2]));
  return p;
}

/// The entry of a list of 2^bits.size() at the place that the bits give, least significant first.
template <class Cs>
Num<Cs> Select(Cs& cs, std::vector<Num<Cs>> list, std::span<const Boolean<Cs>> bits) {
  [[maybe_unused]] auto scope = cs.Scope("select");
  CUZK_CHECK(list.size() == size_t{1} << bits.size());
  for (size_t i = bits.size(); i-- > 0;) {
    const size_t half = list.size() / 2;
    std::vector<Num<Cs>> kept;
    kept.reserve(half);
    for (size_t j = 0; j < half; ++j) kept.push_back(Pick(cs, bits[i], list[half + j], list[j]));
    list = std::move(kept);
  }
  return list[0];
}

template <class Cs>
Num<Cs> HashGroup(Cs& cs, TreeHash hash, std::span<const Num<Cs>> group) {
  if (hash == TreeHash::kPoseidon) return PoseidonMerkle<Cs>(cs, group);
  Booleans<Cs> message;
  message.reserve(group.size() * 256);
  for (const Num<Cs>& node : group) {
    const Booleans<Cs> bits = ReverseBytes<Cs>(ToBits(cs, node));
    message.insert(message.end(), bits.begin(), bits.end());
  }
  return Sha256ToNum(cs, std::move(message));
}

/// [computed] * [1] = [expected]: closes a relation.
template <class Cs>
void EnforceSame(Cs& cs, const Num<Cs>& left, const Num<Cs>& right, const Relation& relation) {
  cs.Enforce(Just<Cs>(left), One<Cs>(), Just<Cs>(right));
  if constexpr (Cs::kComputes) {
    if (left.value != right.value) cs.Broken(relation);
  }
}

/// A new input equal to x: [i] * [1] = [x].
template <class Cs>
void Inputize(Cs& cs, const Num<Cs>& x) {
  [[maybe_unused]] auto scope = cs.Scope("public input");
  const Num<Cs> input = cs.AllocateInput(x.value);
  cs.Enforce(Just<Cs>(input), One<Cs>(), Just<Cs>(x));
}

/// The siblings of level `level` start at sibling `first` of the path.
template <class Cs>
std::vector<Num<Cs>> AllocateSiblings(Cs& cs, const PathInputs* path, size_t first, uint32_t arity) {
  std::vector<Num<Cs>> siblings;
  siblings.reserve(arity - 1);
  for (uint32_t j = 0; j + 1 < arity; ++j) {
    siblings.push_back(cs.AllocateNum(Given<Cs>([&] { return path->siblings[first + j]; })));
  }
  return siblings;
}

/// The root that a path computes: allocates index bits and siblings level by level, and gives the leaf's index as a
/// public input. `path` is read only where values exist.
template <class Cs>
Num<Cs> RootOf(Cs& cs, TreeHash hash, const TreeShape& shape, const Num<Cs>& leaf, const PathInputs* path) {
  Num<Cs> current = leaf;
  Booleans<Cs> index;
  size_t first = 0;
  int64_t level = 0;
  for (const uint32_t arity : shape.Levels()) {
    [[maybe_unused]] auto scope = cs.Scope("level", level++);
    const auto width = static_cast<unsigned>(std::countr_zero(arity));
    const size_t start = index.size();
    const auto digit = GivenWord<Cs>([&] { return Words256{path->leaf_index >> start & (arity - 1), 0, 0, 0}; });
    for (const Bit<Cs>& bit : AllocateBits(cs, digit, width)) index.push_back(Boolean<Cs>::Is(bit));
    const std::vector<Num<Cs>> siblings = AllocateSiblings(cs, path, first, arity);
    first += arity - 1;
    const std::vector<Num<Cs>> group =
        Insert<Cs>(cs, current, std::span<const Boolean<Cs>>(index).subspan(start), siblings);
    current = HashGroup<Cs>(cs, hash, group);
  }
  PackIntoInputs<Cs>(cs, index);
  return current;
}

/// That `leaf` leads to `root`, and the name under which it is reported where it does not.
template <class Cs>
struct Inclusion {
  const Num<Cs>& leaf;
  const Num<Cs>& root;
  Relation relation;
};

/// A path whose variables are there already: arities, the bits of the leaf's place and the siblings, level by level.
template <class Cs>
struct PlacedPath {
  std::span<const uint32_t> levels;
  std::span<const Boolean<Cs>> index;
  std::span<const std::vector<Num<Cs>>> siblings;
};

/// The inclusion by a path whose variables are allocated here (PoRCircuit with a private root).
template <class Cs>
void Include(Cs& cs, TreeHash hash, const TreeShape& shape, const PathInputs* path,
             const std::type_identity_t<Inclusion<Cs>>& claim) {
  [[maybe_unused]] auto scope = cs.Scope(claim.relation.subject, claim.relation.index);
  EnforceSame(cs, RootOf(cs, hash, shape, claim.leaf, path), claim.root, claim.relation);
}

/// The inclusion by a path that is there.
template <class Cs>
void IncludeAt(Cs& cs, TreeHash hash, const PlacedPath<Cs>& path, const Inclusion<Cs>& claim) {
  [[maybe_unused]] auto path_scope = cs.Scope(claim.relation.subject, claim.relation.index);
  Num<Cs> current = claim.leaf;
  size_t start = 0;
  for (size_t level = 0; level < path.levels.size(); ++level) {
    [[maybe_unused]] auto scope = cs.Scope("level", static_cast<int64_t>(level));
    const auto width = static_cast<size_t>(std::countr_zero(path.levels[level]));
    const std::vector<Num<Cs>> group = Insert<Cs>(cs, current, path.index.subspan(start, width), path.siblings[level]);
    start += width;
    current = HashGroup<Cs>(cs, hash, group);
  }
  CUZK_CHECK(start == path.index.size());
  EnforceSame(cs, current, claim.root, claim.relation);
}

}  // namespace cuzk::circuit
