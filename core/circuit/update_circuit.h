#pragma once
// EmptySectorUpdateCircuit: a head (public inputs, apex tree, challenge bits), then one block per challenge.

#include "core/circuit/merkle_gadget.h"
#include "core/circuit/poseidon/prepared_hashes.h"
#include "core/circuit/update.h"

namespace cuzk::circuit {

/// How a circuit's challenges are cut from digests.
struct ChallengeCut {
  uint32_t bits;        ///< of one challenge that are drawn
  uint32_t per_digest;  ///< challenges
  uint32_t digests;
  ChallengeCut(uint32_t challenges, uint32_t bits)
      : bits(bits), per_digest(254 / bits), digests((challenges + per_digest - 1) / per_digest) {}
};

/// The drawn bits of each challenge, least significant first: digests of comm_r_new and a running number.
template <class Cs>
std::vector<Booleans<Cs>> DrawChallengeBits(Cs& cs, const Num<Cs>& comm_r_new, const Num<Cs>& partition,
                                            uint32_t challenges, uint32_t bits) {
  const ChallengeCut cut(challenges, bits);
  std::vector<Booleans<Cs>> drawn;
  for (uint32_t j = 0; j < cut.digests; ++j) {
    [[maybe_unused]] auto scope = cs.Scope("challenge digest", j);
    const Num<Cs> index = cs.AllocateNum(partition.value * Fr::FromU64(cut.digests) + Fr::FromU64(j));
    typename Cs::Lc sum;
    sum.Add(partition, static_cast<int64_t>(cut.digests)).AddOne(static_cast<int64_t>(j));
    cs.Enforce(std::move(sum), One<Cs>(), Just<Cs>(index));
    const Num<Cs> digest = PoseidonRandomnessGadget(cs, comm_r_new, index);
    const std::vector<Bit<Cs>> digest_bits = AllocateBits(cs, Values<Cs>::Canonical(digest.value), 255);
    Booleans<Cs> booleans;
    for (const Bit<Cs>& bit : digest_bits) booleans.push_back(Boolean<Cs>::Is(bit));
    EnforcePacked<Cs>(cs, booleans, digest);
    for (uint32_t i = 0; i < cut.per_digest && drawn.size() < challenges; ++i) {
      drawn.emplace_back(booleans.begin() + i * bits, booleans.begin() + (i + 1) * bits);
    }
  }
  return drawn;
}

template <class Cs>
class UpdateCircuit {
 public:
  using N = Num<Cs>;
  using B = Boolean<Cs>;
  struct Head {
    N phi, root_r_old, root_r_new;
    std::vector<N> apex;
    Booleans<Cs> h_select, partition;
    std::vector<Booleans<Cs>> drawn;  // by challenge
  };

  UpdateCircuit(const UpdateSpec& spec, const UpdateInputs* inputs) : spec_(spec), inputs_(inputs) {}

  static constexpr const char* kBlockName = "challenge";
  uint64_t BlockCount() const { return spec_.challenges; }
  Head MakeHead(Cs& cs) const;
  void MakeBlock(Cs& cs, const Head& head, uint64_t index) const;
  /// Bits of the head that belong to one block. But for them blocks are shifts of each other.
  static Booleans<Cs> HeadBits(const Head& head, uint64_t index) { return head.drawn[index]; }

  /// Blocks whose hashes are prepared together: two paths each fill the lanes.
  static constexpr uint64_t kPreparedTogether = 4;
  void Prepare(uint64_t first, uint64_t last, PreparedHashes& prepared) const {
    std::vector<PathStart> starts;
    for (uint64_t i = first; i < last; ++i) {
      const UpdateChallenge& challenge = inputs_->challenges[i];
      starts.push_back({challenge.leaf_old, &challenge.path_old});
      starts.push_back({challenge.leaf_new, &challenge.path_new});
    }
    const std::vector<size_t> levels = prepared.ComputePaths(spec_.replica_tree, starts);
    for (size_t j = 0; j < starts.size(); ++j) {
      for (const size_t level : levels) prepared.Expect(level, j);
    }
  }

 private:
  N MakeSelector(Cs& cs, Head& head) const;
  void MakeApexTree(Cs& cs, const Head& head, const std::vector<N>& siblings, const N& comm_d_new) const;
  N MakeHighBits(Cs& cs, const Head& head, const Booleans<Cs>& challenge) const;
  N PublicNum(Cs& cs, const char* name, Fr UpdateInputs::*member) const {
    [[maybe_unused]] auto scope = cs.Scope(name);
    const N x = cs.AllocateNum(Given<Cs>([&] { return inputs_->*member; }));
    Inputize(cs, x);
    return x;
  }
  void IncludeReplica(Cs& cs, const PathInputs* path, const Booleans<Cs>& challenge, const Inclusion<Cs>& claim) const {
    const std::vector<uint32_t> levels = spec_.replica_tree.Levels();
    std::vector<std::vector<N>> siblings;
    siblings.reserve(levels.size());
    size_t first = 0;
    for (uint32_t arity : levels) {
      siblings.push_back(AllocateSiblings(cs, path, first, arity));
      first += arity - 1;
    }
    IncludeAt<Cs>(cs, TreeHash::kPoseidon, {levels, challenge, siblings}, claim);
  }

  const UpdateSpec& spec_;
  const UpdateInputs* inputs_;
};

template <class Cs>
Num<Cs> UpdateCircuit<Cs>::MakeSelector(Cs& cs, Head& head) const {
  [[maybe_unused]] auto scope = cs.Scope("partition and h");
  const uint32_t p = spec_.partition_bits;
  const auto packed = GivenWord<Cs>([&] {
    return Words256{inputs_->partition + (uint64_t{1} << (p + inputs_->h_index)), 0, 0, 0};
  });
  const N selector = cs.AllocateNum(Values<Cs>::FromWord(packed));
  Inputize(cs, selector);
  Booleans<Cs> bits;
  for (const Bit<Cs>& bit : AllocateBits(cs, packed, p + kUpdateHValues)) bits.push_back(B::Is(bit));
  EnforcePacked<Cs>(cs, bits, selector);
  head.partition.assign(bits.begin(), bits.begin() + p);
  head.h_select.assign(bits.begin() + p, bits.end());
  return PackBits<Cs>(cs, head.partition);
}

template <class Cs>
void UpdateCircuit<Cs>::MakeApexTree(Cs& cs, const Head& head, const std::vector<N>& siblings,
                                     const N& comm_d_new) const {
  [[maybe_unused]] auto scope = cs.Scope("apex tree");
  std::vector<N> row = head.apex;
  for (int64_t level = 0; row.size() > 1; ++level) {
    [[maybe_unused]] auto level_scope = cs.Scope("row", level);
    std::vector<N> above;
    for (size_t i = 0; i < row.size(); i += 2) {
      above.push_back(HashGroup<Cs>(cs, TreeHash::kSha256, std::span<const N>(row).subspan(i, 2)));
    }
    row = std::move(above);
  }
  const std::vector<uint32_t> levels(spec_.partition_bits, 2);
  std::vector<std::vector<N>> groups;
  groups.reserve(siblings.size());
  for (const N& sibling : siblings) groups.push_back({sibling});
  IncludeAt<Cs>(cs, TreeHash::kSha256, {levels, head.partition, groups},
                {row[0], comm_d_new, {"apex leaves", -1, "do not lead to comm_d_new"}});
}

template <class Cs>
typename UpdateCircuit<Cs>::Head UpdateCircuit<Cs>::MakeHead(Cs& cs) const {
  Head head;
  const N partition = MakeSelector(cs, head);
  const N comm_r_old = PublicNum(cs, "comm_r_old", &UpdateInputs::comm_r_old);
  const N comm_d_new = PublicNum(cs, "comm_d_new", &UpdateInputs::comm_d_new);
  const N comm_r_new = PublicNum(cs, "comm_r_new", &UpdateInputs::comm_r_new);
  head.phi = PoseidonRandomnessGadget(cs, comm_d_new, comm_r_old);
  const N comm_c = cs.AllocateNum(Given<Cs>([&] { return inputs_->comm_c; }));
  head.root_r_old = cs.AllocateNum(Given<Cs>([&] { return inputs_->root_r_old; }));
  head.root_r_new = cs.AllocateNum(Given<Cs>([&] { return inputs_->root_r_new; }));
  for (size_t i = 0; i < size_t{1} << spec_.apex_bits; ++i) {
    head.apex.push_back(cs.AllocateNum(Given<Cs>([&] { return inputs_->apex_leaves[i]; })));
  }
  std::vector<N> siblings;
  for (uint32_t i = 0; i < spec_.partition_bits; ++i) {
    siblings.push_back(cs.AllocateNum(Given<Cs>([&] { return inputs_->partition_siblings[i]; })));
  }
  EnforceSame(cs, PoseidonPair(cs, comm_c, head.root_r_old), comm_r_old,
              {"comm_r_old", -1, "is not the hash of comm_c and the old root"});
  EnforceSame(cs, PoseidonPair(cs, comm_c, head.root_r_new), comm_r_new,
              {"comm_r_new", -1, "is not the hash of comm_c and the new root"});
  MakeApexTree(cs, head, siblings, comm_d_new);
  head.drawn =
      DrawChallengeBits(cs, comm_r_new, partition, spec_.challenges, spec_.ChallengeBits() - spec_.partition_bits);
  return head;
}

template <class Cs>
Num<Cs> UpdateCircuit<Cs>::MakeHighBits(Cs& cs, const Head& head, const Booleans<Cs>& challenge) const {
  [[maybe_unused]] auto scope = cs.Scope("high bits");
  typename Cs::Lc sum;
  typename Cs::Scalar value{};
  for (uint32_t k = 0; k < kUpdateHValues; ++k) {
    const auto top = std::span<const B>(challenge).last(spec_.h_values[k]);
    const N high = PackBits<Cs>(cs, top);
    const B& selected = head.h_select[k];
    const N term = cs.AllocateNum(Choose(selected.value(), high.value, Cs::Scalar::Zero()));
    cs.Enforce(Just<Cs>(high), selected.ToLc(), Just<Cs>(term));
    sum.Add(term);
    value += term.value;
  }
  const N high = cs.AllocateNum(value);
  cs.Enforce(std::move(sum), One<Cs>(), Just<Cs>(high));
  return high;
}

template <class Cs>
void UpdateCircuit<Cs>::MakeBlock(Cs& cs, const Head& head, uint64_t index) const {
  const UpdateChallenge* input = inputs_ != nullptr ? &inputs_->challenges[index] : nullptr;
  auto path = [input](PathInputs UpdateChallenge::*member) { return input != nullptr ? &(input->*member) : nullptr; };
  Booleans<Cs> challenge = head.drawn[index];
  challenge.insert(challenge.end(), head.partition.begin(), head.partition.end());
  const N rho = PoseidonRandomnessGadget(cs, head.phi, MakeHighBits(cs, head, challenge));

  const N leaf_old = cs.AllocateNum(Given<Cs>([&] { return input->leaf_old; }));
  const N leaf_data = cs.AllocateNum(Given<Cs>([&] { return input->leaf_data; }));
  const N product = cs.AllocateNum(leaf_data.value * rho.value);
  cs.Enforce(Just<Cs>(leaf_data), Just<Cs>(rho), Just<Cs>(product));
  const N leaf_new = cs.AllocateNum(leaf_old.value + product.value);
  typename Cs::Lc sum;
  sum.Add(leaf_old).Add(product);
  cs.Enforce(std::move(sum), One<Cs>(), Just<Cs>(leaf_new));
  if constexpr (Cs::kComputes) {
    uint64_t drawn = 0;
    for (size_t i = 0; i < challenge.size(); ++i) drawn |= static_cast<uint64_t>(challenge[i].value()) << i;
    for (auto member : {&UpdateChallenge::path_old, &UpdateChallenge::path_new}) {
      if ((input->*member).leaf_index != drawn) cs.Broken({"leaf index", -1, "is not the challenge"});
    }
    if (leaf_new.value != input->leaf_new) cs.Broken({"new leaf", -1, "is not old + data * rho"});
  }
  IncludeReplica(cs, path(&UpdateChallenge::path_old), challenge, {leaf_old, head.root_r_old, {"old replica path"}});
  IncludeReplica(cs, path(&UpdateChallenge::path_new), challenge, {leaf_new, head.root_r_new, {"new replica path"}});

  const uint32_t y = spec_.ChallengeBits() - spec_.partition_bits - spec_.apex_bits;
  const auto bits = std::span<const B>(challenge);
  const N apex = Select<Cs>(cs, head.apex, bits.subspan(y, spec_.apex_bits));
  const PathInputs* data_path = path(&UpdateChallenge::data_path);
  std::vector<std::vector<N>> siblings;
  siblings.reserve(y);
  for (uint32_t i = 0; i < y; ++i) siblings.push_back(AllocateSiblings(cs, data_path, i, 2));
  const std::vector<uint32_t> levels(y, 2);
  IncludeAt<Cs>(cs, TreeHash::kSha256, {levels, bits.first(y), siblings},
                {leaf_data, apex, {"data path", -1, "does not lead to its apex leaf"}});
}

}  // namespace cuzk::circuit
