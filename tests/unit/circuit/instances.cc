#include "tests/unit/circuit/instances.h"

#include <bit>
#include <random>

#include "core/base/hash.h"
#include "core/circuit/poseidon/poseidon.h"

namespace cuzk::circuit {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t Below(uint64_t n) { return engine_() % n; }
  Fr Element() {
    return Fr::FromU64(engine_()) * Fr::FromU64(engine_()) * Fr::FromU64(engine_()) * Fr::FromU64(engine_());
  }
  std::vector<Fr> Elements(size_t n) {
    std::vector<Fr> elements(n);
    for (Fr& x : elements) x = Element();
    return elements;
  }

 private:
  std::mt19937_64 engine_;
};

Fr FromDigest(Bytes32 digest) {
  digest[31] &= 0x3f;
  return *Fr::FromBytesLe(digest);
}

Fr HashPair(const Fr& a, const Fr& b) {
  const std::array<Fr, 2> pair = {a, b};
  return PoseidonHash(pair);
}

/// 254 bits.
Fr DataElement(Random& random) { return FromDigest(random.Element().ToBytesLe()); }

}  // namespace

Fr ShaPair(const Fr& left, const Fr& right) {
  Hasher hasher(HashKind::kSha256);
  hasher.Update(left.ToBytesLe());
  hasher.Update(right.ToBytesLe());
  return FromDigest(hasher.Finish32());
}

Fr Label(const Fr& replica_id, uint32_t layer, uint64_t node, const std::vector<Fr>& parents) {
  Hasher hasher(HashKind::kSha256);
  hasher.Update(replica_id.ToBytesLe());
  std::array<uint8_t, 32> head{};
  StoreBe<uint32_t>(head.data(), layer);
  StoreBe<uint64_t>(head.data() + 4, node);
  hasher.Update(head);
  for (size_t i = 0; i < 37; ++i) hasher.Update(parents[i % parents.size()].ToBytesLe());
  return FromDigest(hasher.Finish32());
}

WholeTree::WholeTree(const TreeShape& shape, std::vector<Fr> leaves, bool binary_sha)
    : shape_(shape), levels_{std::move(leaves)} {
  for (uint32_t arity : shape.Levels()) {
    const std::vector<Fr>& below = levels_.back();
    std::vector<Fr> above;
    for (size_t i = 0; i < below.size(); i += arity) {
      above.push_back(binary_sha ? ShaPair(below[i], below[i + 1]) : PoseidonHash(std::span(below).subspan(i, arity)));
    }
    levels_.push_back(std::move(above));
  }
}

PathInputs WholeTree::Path(uint64_t leaf) const {
  PathInputs path;
  path.leaf_index = leaf;
  size_t level = 0;
  for (uint32_t arity : shape_.Levels()) {
    const uint64_t first = leaf / arity * arity;
    for (uint64_t i = first; i < first + arity; ++i) {
      if (i != leaf) path.siblings.push_back(levels_[level][i]);
    }
    leaf /= arity;
    ++level;
  }
  return path;
}

PorepInputs MakePorep(const PorepSpec& spec, uint64_t seed) {
  Random random(seed);
  const uint64_t nodes = spec.data_tree.leaves;
  PorepInputs inputs;
  inputs.replica_id = DataElement(random);
  std::vector<Fr> data(nodes);
  for (Fr& x : data) x = DataElement(random);
  const WholeTree tree_d(spec.data_tree, data, true);
  // Columns are random but for those of the challenged nodes, which follow from their parents.
  std::vector<std::vector<Fr>> columns(nodes);
  for (auto& column : columns) {
    for (uint32_t i = 0; i < spec.layers; ++i) column.push_back(DataElement(random));
  }
  std::vector<std::array<uint64_t, kPorepParents>> parents(spec.challenges);
  for (uint32_t c = 0; c < spec.challenges; ++c) {
    // Challenges are the last nodes, parents come from the others.
    const uint64_t node = nodes - 1 - c;
    for (uint64_t& parent : parents[c]) parent = random.Below(nodes - spec.challenges);
    for (uint32_t layer = 1; layer <= spec.layers; ++layer) {
      std::vector<Fr> labels;
      for (uint32_t i = 0; i < (layer == 1 ? kDrgParents : kPorepParents); ++i) {
        labels.push_back(columns[parents[c][i]][i < kDrgParents ? layer - 1 : layer - 2]);
      }
      columns[node][layer - 1] = Label(inputs.replica_id, layer, node, labels);
    }
  }
  std::vector<Fr> hashes, replica;
  for (uint64_t i = 0; i < nodes; ++i) {
    hashes.push_back(PoseidonHash(columns[i]));
    replica.push_back(columns[i].back() + data[i]);
  }
  const WholeTree tree_c(spec.replica_tree, hashes, false), tree_r(spec.replica_tree, replica, false);
  inputs.comm_d = tree_d.root();
  inputs.comm_c = tree_c.root();
  inputs.comm_r_last = tree_r.root();
  inputs.comm_r = HashPair(inputs.comm_c, inputs.comm_r_last);
  for (uint32_t c = 0; c < spec.challenges; ++c) {
    const uint64_t node = nodes - 1 - c;
    PorepChallenge challenge;
    challenge.data_leaf = data[node];
    challenge.comm_d_path = tree_d.Path(node);
    for (uint32_t i = 0; i < kPorepParents; ++i) {
      challenge.parents[i] = {columns[parents[c][i]], tree_c.Path(parents[c][i]), hashes[parents[c][i]]};
    }
    challenge.challenge = node;
    challenge.comm_r_last_path = tree_r.Path(node);
    challenge.comm_c_path = tree_c.Path(node);
    challenge.claimed_labels = columns[node];
    challenge.claimed_column_hash = hashes[node];
    inputs.challenges.push_back(std::move(challenge));
  }
  return inputs;
}

PostInputs MakePost(const PostSpec& spec, uint64_t seed) {
  Random random(seed);
  PostInputs inputs;
  for (uint32_t s = 0; s < spec.sectors; ++s) {
    const WholeTree tree(spec.replica_tree, random.Elements(spec.replica_tree.leaves), false);
    PostSector sector;
    sector.name = {100 + s, s, 0};
    sector.comm_c = random.Element();
    sector.comm_r_last = tree.root();
    sector.comm_r = HashPair(sector.comm_c, sector.comm_r_last);
    for (uint32_t c = 0; c < spec.challenges; ++c) {
      const uint64_t leaf = random.Below(spec.replica_tree.leaves);
      sector.challenges.push_back({tree.leaf(leaf), tree.Path(leaf)});
    }
    inputs.sectors.push_back(std::move(sector));
  }
  return inputs;
}

UpdateInputs MakeUpdate(const UpdateSpec& spec, uint64_t seed) {
  Random random(seed);
  const uint64_t nodes = spec.replica_tree.leaves;
  const uint32_t bits = spec.ChallengeBits();
  UpdateInputs inputs;
  inputs.partition = static_cast<uint32_t>(random.Below(uint64_t{1} << spec.partition_bits));
  inputs.h_index = 3;
  std::vector<Fr> old_leaves = random.Elements(nodes), data(nodes), updated(nodes);
  for (Fr& x : data) x = DataElement(random);
  const TreeShape binary{nodes, 2, 0, 0};
  const WholeTree tree_d(binary, data, true), tree_old(spec.replica_tree, old_leaves, false);
  inputs.comm_c = random.Element();
  inputs.comm_d_new = tree_d.root();
  inputs.root_r_old = tree_old.root();
  inputs.comm_r_old = HashPair(inputs.comm_c, inputs.root_r_old);
  const Fr phi = PoseidonRandomness(inputs.comm_d_new, inputs.comm_r_old);
  for (uint64_t i = 0; i < nodes; ++i) {
    const Fr rho = PoseidonRandomness(phi, Fr::FromU64(i >> (bits - spec.h_values[inputs.h_index])));
    updated[i] = old_leaves[i] + data[i] * rho;
  }
  const WholeTree tree_new(spec.replica_tree, updated, false);
  inputs.root_r_new = tree_new.root();
  inputs.comm_r_new = HashPair(inputs.comm_c, inputs.root_r_new);
  const uint32_t apex_level = bits - spec.partition_bits - spec.apex_bits;
  const uint64_t first_apex = uint64_t{inputs.partition} << spec.apex_bits;
  for (uint64_t i = 0; i < uint64_t{1} << spec.apex_bits; ++i) {
    inputs.apex_leaves.push_back(tree_d.node(apex_level, first_apex + i));
  }
  for (uint32_t i = 0; i < spec.partition_bits; ++i) {
    inputs.partition_siblings.push_back(tree_d.node(bits - spec.partition_bits + i, (inputs.partition >> i) ^ 1));
  }
  for (uint64_t node : UpdateChallenges(spec, inputs.comm_r_new, inputs.partition)) {
    UpdateChallenge challenge;
    challenge.leaf_old = old_leaves[node];
    challenge.leaf_new = updated[node];
    challenge.leaf_data = data[node];
    challenge.path_old = tree_old.Path(node);
    challenge.path_new = tree_new.Path(node);
    challenge.data_path = tree_d.Path(node);
    challenge.data_path.siblings.resize(apex_level);
    inputs.challenges.push_back(std::move(challenge));
  }
  return inputs;
}

PorepSpec SmallPorep(const TreeShape& replica) { return {{replica.leaves, 2, 0, 0}, replica, 2, 1}; }
PostSpec SmallPost() { return {{64, 8, 4, 2}, 3, 5}; }
UpdateSpec SmallUpdate() { return {{32, 8, 4, 0}, 0, 3, 10, {1, 1, 1, 1, 1, 1}}; }

}  // namespace cuzk::circuit
