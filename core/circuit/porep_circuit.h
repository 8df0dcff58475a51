#pragma once
// StackedCircuit: a head, then one independent block per challenge.

#include "core/circuit/merkle_gadget.h"
#include "core/circuit/porep.h"
#include "core/circuit/poseidon/prepared_hashes.h"
#include "core/circuit/sha256/sha256_gadget.h"

namespace cuzk::circuit {

/// The label of a node: SHA-256 over the replica id, the layer's number, the node, and the parents' labels repeated
/// to 37. `parents` are the labels of 6 parents in layer 1, of 14 after it, as the bits that SHA-256 reads.
template <class Cs>
Num<Cs> CreateLabel(Cs& cs, const Booleans<Cs>& replica_id, std::span<const Booleans<Cs>> parents, uint32_t layer,
                    const Booleans<Cs>& node) {
  constexpr size_t kPreimageParents = 37;
  Booleans<Cs> message;
  message.reserve((2 + kPreimageParents) * 256 + 512);
  message.insert(message.end(), replica_id.begin(), replica_id.end());
  for (unsigned i = 32; i-- > 0;) message.push_back(Boolean<Cs>::Constant(layer >> i & 1));
  message.insert(message.end(), node.rbegin(), node.rend());
  while (message.size() < 512) message.push_back(Boolean<Cs>::Constant(false));
  for (size_t i = 0; i < kPreimageParents; ++i) {
    const Booleans<Cs>& parent = parents[i % parents.size()];
    message.insert(message.end(), parent.begin(), parent.end());
  }
  return Sha256ToNum(cs, std::move(message));
}

template <class Cs>
class PorepCircuit {
 public:
  using N = Num<Cs>;
  static constexpr const char* kNotItsLeaf = "is not the leaf of its inclusion proof";
  /// What the blocks use of the head.
  struct Head {
    N comm_d, comm_c, comm_r_last;
    Booleans<Cs> replica_id;
  };

  /// `inputs` may be null where there are no values. Both must outlive the circuit.
  PorepCircuit(const PorepSpec& spec, const PorepInputs* inputs) : spec_(spec), inputs_(inputs) {}

  static constexpr const char* kBlockName = "challenge";
  uint64_t BlockCount() const { return spec_.challenges; }

  Head MakeHead(Cs& cs) const {
    Head head;
    const N replica_id = cs.AllocateNum(Given<Cs>([&] { return inputs_->replica_id; }));
    {
      [[maybe_unused]] auto scope = cs.Scope("replica_id");
      Inputize(cs, replica_id);
      head.replica_id = ReverseBytes<Cs>(ToBits(cs, replica_id));
    }
    {
      [[maybe_unused]] auto scope = cs.Scope("comm_d");
      head.comm_d = cs.AllocateNum(Given<Cs>([&] { return inputs_->comm_d; }));
      Inputize(cs, head.comm_d);
    }
    [[maybe_unused]] auto scope = cs.Scope("comm_r");
    const N comm_r = cs.AllocateNum(Given<Cs>([&] { return inputs_->comm_r; }));
    Inputize(cs, comm_r);
    head.comm_r_last = cs.AllocateNum(Given<Cs>([&] { return inputs_->comm_r_last; }));
    head.comm_c = cs.AllocateNum(Given<Cs>([&] { return inputs_->comm_c; }));
    const N hash = PoseidonPair(cs, head.comm_c, head.comm_r_last);
    EnforceSame(cs, comm_r, hash, {"comm_r", -1, "is not the hash of comm_c and comm_r_last"});
    return head;
  }

  void MakeBlock(Cs& cs, const Head& head, uint64_t index) const;
  /// Bits of the head that belong to one block: none. Blocks are shifts of each other.
  static Booleans<Cs> HeadBits(const Head&, uint64_t) { return {}; }

  /// Blocks whose hashes are prepared together. A block's columns and paths fill the lanes.
  static constexpr uint64_t kPreparedTogether = 1;
  void Prepare(uint64_t first, uint64_t last, PreparedHashes& prepared) const {
    for (uint64_t i = first; i < last; ++i) PrepareBlock(inputs_->challenges[i], prepared);
  }

 private:
  void PrepareBlock(const PorepChallenge& challenge, PreparedHashes& prepared) const;
  /// Column hash of a parent and its place in tree C.
  std::vector<N> MakeParent(Cs& cs, const Head& head, uint32_t parent, const PorepChallenge* challenge) const;
  std::vector<N> MakeLabels(Cs& cs, const Head& head, std::span<const std::vector<N>> parents, const Booleans<Cs>& node,
                            const PorepChallenge* challenge) const;
  /// A value that the message repeats.
  static void Compare(Cs& cs, const N& computed, const std::optional<Fr>& claimed, const Relation& relation) {
    if constexpr (Cs::kComputes) {
      if (claimed && computed.value != *claimed) cs.Broken(relation);
    }
  }

  const PorepSpec& spec_;
  const PorepInputs* inputs_;
};

/// The challenged node's own column and paths are foreseen from what the message claims of them.
template <class Cs>
void PorepCircuit<Cs>::PrepareBlock(const PorepChallenge& challenge, PreparedHashes& prepared) const {
  std::vector<Fr> columns;
  for (const PorepColumn& parent : challenge.parents) {
    columns.insert(columns.end(), parent.labels.begin(), parent.labels.end());
  }
  const std::vector<Fr>& own = challenge.claimed_labels;
  columns.insert(columns.end(), own.begin(), own.end());
  const size_t hashes = prepared.Compute(std::move(columns), spec_.layers);
  std::vector<PathStart> starts;
  for (const PorepColumn& parent : challenge.parents) {
    starts.push_back({prepared.digest(hashes, starts.size()), &parent.comm_c_path});
  }
  if (!own.empty()) {
    starts.push_back({own.back() + challenge.data_leaf, &challenge.comm_r_last_path});
    starts.push_back({prepared.digest(hashes, kPorepParents), &challenge.comm_c_path});
  }
  const std::vector<size_t> levels = prepared.ComputePaths(spec_.replica_tree, starts);
  auto expect_path = [&](size_t start) {
    for (const size_t level : levels) prepared.Expect(level, start);
  };
  for (size_t j = 0; j < kPorepParents; ++j) {
    prepared.Expect(hashes, j);
    expect_path(j);
  }
  if (own.empty()) return;
  expect_path(kPorepParents);
  prepared.Expect(hashes, kPorepParents);
  expect_path(kPorepParents + 1);
}

template <class Cs>
std::vector<Num<Cs>> PorepCircuit<Cs>::MakeParent(Cs& cs, const Head& head, uint32_t parent,
                                                  const PorepChallenge* challenge) const {
  const bool drg = parent < kDrgParents;
  const int64_t number = drg ? parent : parent - kDrgParents;
  [[maybe_unused]] auto scope = cs.Scope(drg ? "drg parent" : "expander parent", number);
  const PorepColumn* column = challenge != nullptr ? &challenge->parents[parent] : nullptr;
  std::vector<N> labels;
  for (uint32_t layer = 0; layer < spec_.layers; ++layer) {
    labels.push_back(cs.AllocateNum(Given<Cs>([&] { return column->labels[layer]; })));
  }
  const N hash = PoseidonMerkle<Cs>(cs, labels);
  if (column != nullptr) {
    Compare(cs, hash, column->claimed_hash,
            {drg ? "column hash of drg parent" : "column hash of expander parent", number, kNotItsLeaf});
  }
  Include(cs, TreeHash::kPoseidon, spec_.replica_tree, column != nullptr ? &column->comm_c_path : nullptr,
          {hash, head.comm_c, {drg ? "comm_c path of drg parent" : "comm_c path of expander parent", number}});
  return labels;
}

/// The labels of the challenged node, layer by layer, from its parents'.
template <class Cs>
std::vector<Num<Cs>> PorepCircuit<Cs>::MakeLabels(Cs& cs, const Head& head, std::span<const std::vector<N>> parents,
                                                  const Booleans<Cs>& node, const PorepChallenge* challenge) const {
  std::vector<N> labels;
  for (uint32_t layer = 1; layer <= spec_.layers; ++layer) {
    [[maybe_unused]] auto scope = cs.Scope("label of layer", layer);
    std::vector<Booleans<Cs>> bits;
    for (uint32_t i = 0; i < (layer == 1 ? kDrgParents : kPorepParents); ++i) {
      // DRG parents stand in the same layer, expander parents in the one before.
      const uint32_t row = i < kDrgParents ? layer - 1 : layer - 2;
      bits.push_back(ReverseBytes<Cs>(ToBits(cs, parents[i][row])));
    }
    labels.push_back(CreateLabel<Cs>(cs, head.replica_id, bits, layer, node));
    if (challenge == nullptr || challenge->claimed_labels.empty()) continue;
    Compare(cs, labels.back(), challenge->claimed_labels[layer - 1],
            {"label of layer", layer, "is not the one that its parents give"});
  }
  return labels;
}

template <class Cs>
void PorepCircuit<Cs>::MakeBlock(Cs& cs, const Head& head, uint64_t index) const {
  const PorepChallenge* input = inputs_ != nullptr ? &inputs_->challenges[index] : nullptr;
  auto path = [input](PathInputs PorepChallenge::*member) { return input != nullptr ? &(input->*member) : nullptr; };
  const N data_leaf = cs.AllocateNum(Given<Cs>([&] { return input->data_leaf; }));
  Include(cs, TreeHash::kSha256, spec_.data_tree, path(&PorepChallenge::comm_d_path),
          {data_leaf, head.comm_d, {"comm_d path"}});
  std::vector<std::vector<N>> parents;
  for (uint32_t i = 0; i < kPorepParents; ++i) parents.push_back(MakeParent(cs, head, i, input));

  Booleans<Cs> node;
  {
    [[maybe_unused]] auto scope = cs.Scope("node");
    const auto value = GivenWord<Cs>([&] { return Words256{input->challenge, 0, 0, 0}; });
    for (const Bit<Cs>& bit : AllocateBits(cs, value, 64)) node.push_back(Boolean<Cs>::Is(bit));
    PackIntoInputs<Cs>(cs, node);
  }
  const std::vector<N> labels = MakeLabels(cs, head, parents, node, input);
  [[maybe_unused]] auto scope = cs.Scope("encoding");
  const N& key = labels.back();
  const N encoded = cs.AllocateNum(key.value + data_leaf.value);
  typename Cs::Lc sum;
  sum.Add(key).Add(data_leaf);
  cs.Enforce(std::move(sum), One<Cs>(), Just<Cs>(encoded));
  Include(cs, TreeHash::kPoseidon, spec_.replica_tree, path(&PorepChallenge::comm_r_last_path),
          {encoded, head.comm_r_last, {"comm_r_last path"}});
  const N column = PoseidonMerkle<Cs>(cs, labels);
  if (input != nullptr) Compare(cs, column, input->claimed_column_hash, {"column hash", -1, kNotItsLeaf});
  Include(cs, TreeHash::kPoseidon, spec_.replica_tree, path(&PorepChallenge::comm_c_path),
          {column, head.comm_c, {"comm_c path"}});
}

}  // namespace cuzk::circuit
