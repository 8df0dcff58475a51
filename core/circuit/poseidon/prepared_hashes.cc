#include "core/circuit/poseidon/prepared_hashes.h"

#include <algorithm>

namespace cuzk::circuit {
namespace {

constexpr size_t kLanes = 8;
/// From this many on, left over after whole groups of lanes, a group that is partly idle beats one after the other.
constexpr size_t kWorthPadding = 3;

}  // namespace

bool PreparedHashes::Batch::Has(size_t i, std::span<const Fr> preimage) const {
  return preimage.size() == arity && std::ranges::equal(preimage, std::span(preimages).subspan(i * arity, arity));
}

size_t PreparedHashes::Compute(std::vector<Fr> preimages, uint32_t arity) {
  const size_t left = preimages.size() / arity % kLanes;
  if (arithmetic_ == algebra::Arithmetic::kIfma && left >= kWorthPadding) {
    preimages.resize(preimages.size() + (kLanes - left) * arity, Fr::Zero());
  }
  PoseidonTraces traces(preimages, arity, MerkleTag(arity), arithmetic_);
  batches_.push_back({std::move(preimages), arity, std::move(traces)});
  return batches_.size() - 1;
}

std::vector<size_t> PreparedHashes::ComputePaths(const TreeShape& shape, std::span<const PathStart> starts) {
  std::vector<size_t> batches;
  std::vector<Fr> nodes;
  std::vector<uint64_t> places;
  for (const PathStart& start : starts) {
    nodes.push_back(start.leaf);
    places.push_back(start.path->leaf_index);
  }
  size_t first = 0;
  for (const uint32_t arity : shape.Levels()) {
    std::vector<Fr> groups;
    groups.reserve((starts.size() + kLanes) * arity);
    for (size_t i = 0; i < starts.size(); ++i) {
      const Fr* sibling = &starts[i].path->siblings[first];
      for (uint32_t k = 0; k < arity; ++k) groups.push_back(k == places[i] % arity ? nodes[i] : *sibling++);
      places[i] /= arity;
    }
    first += arity - 1;
    batches.push_back(Compute(std::move(groups), arity));
    for (size_t i = 0; i < starts.size(); ++i) nodes[i] = digest(batches.back(), i);
  }
  return batches;
}

}  // namespace cuzk::circuit
