#pragma once
// Poseidon as rows, with the additions and S-boxes of the network's own circuit.

#include <span>
#include <vector>

#include "core/circuit/poseidon/poseidon_permutation.h"
#include "core/circuit/poseidon/poseidon_rows.h"
#include "core/circuit/values/bits.h"
#include "core/r1cs/writer.h"

namespace cuzk::circuit {

/// Native body: the permutation's own values, row by row.
Fr WritePoseidon(r1cs::WitnessWriter& cs, const PoseidonRows& rows, std::span<const Fr> preimage, const Fr& tag);

namespace internal {

/// Rows of one permutation, by the plain body. State entries are kept as combinations of S-box outputs.
template <class Cs>
class PoseidonBody {
 public:
  using N = Num<Cs>;
  using Lc = typename Cs::Lc;
  PoseidonBody(Cs& cs, const PoseidonRows& rows) : cs_(cs), rows_(rows), c_(*rows.constants), t_(c_.width) {}

  N Run(std::span<const N> preimage) {
    FirstRound(preimage);
    const uint32_t half = c_.full_rounds / 2;
    for (uint32_t round = 1; round < half; ++round) FullRound(round, t_ * (1 + round), round == 1);
    const uint32_t partial_keys = t_ * (1 + half);
    for (uint32_t k = 0; k < c_.partial_rounds; ++k) {
      [[maybe_unused]] auto scope = cs_.Scope("partial round", k);
      outputs_.push_back(SBox(Combine(rows_.partial_input[k]), &c_.keys[partial_keys + k]));
    }
    FirstRoundAfter(partial_keys + c_.partial_rounds);
    for (uint32_t round = 1; round < half; ++round) {
      const bool keyed = round + 1 < half;
      FullRound(half + round, keyed ? partial_keys + c_.partial_rounds + t_ * round : kNoKeys, false);
    }
    [[maybe_unused]] auto scope = cs_.Scope("digest");
    return Ensure(FromMds(1));
  }

 private:
  static constexpr uint32_t kNoKeys = ~0u;
  struct Entry {
    Lc lc;
    typename Cs::Scalar value{};
  };

  /// Round 0: the tag's entry is a constant; the others have no row for their input.
  void FirstRound(std::span<const N> preimage) {
    [[maybe_unused]] auto scope = cs_.Scope("full round", 0);
    for (uint32_t i = 1; i < t_; ++i) {
      const N& x = preimage[i - 1];
      const Fr& p = c_.keys[i];
      const Fr& q = c_.keys[t_ + i];
      auto shifted = [&] {
        Lc lc;
        lc.Add(x).AddOne(p);
        return lc;
      };
      const auto sum = x.value + p;
      const N x2 = cs_.AllocateNum(sum.Square());
      cs_.Enforce(shifted(), shifted(), Just<Cs>(x2));
      const N x4 = cs_.AllocateNum(x2.value.Square());
      cs_.Enforce(Just<Cs>(x2), Just<Cs>(x2), Just<Cs>(x4));
      const N x5 = cs_.AllocateNum(x4.value * sum + q);
      Lc product = Just<Cs>(x5);
      product.AddOne(-q);
      cs_.Enforce(shifted(), Just<Cs>(x4), std::move(product));
      outputs_.push_back(x5);
    }
  }

  /// A full round whose input is outputs_ times the matrix. In round 1 the tag's constant stands before the outputs.
  void FullRound(uint32_t number, uint32_t keys, bool after_first) {
    [[maybe_unused]] auto scope = cs_.Scope("full round", number);
    std::vector<N> next;
    for (uint32_t j = 0; j < t_; ++j) {
      Entry entry = after_first ? FromFirstRound(j) : FromMds(j);
      next.push_back(SBox(std::move(entry), keys == kNoKeys ? nullptr : &c_.keys[keys + j]));
    }
    outputs_ = std::move(next);
  }

  void FirstRoundAfter(uint32_t keys) {
    [[maybe_unused]] auto scope = cs_.Scope("full round", c_.full_rounds / 2);
    std::vector<N> next;
    for (uint32_t j = 0; j < t_; ++j) next.push_back(SBox(Combine(rows_.after_partial[j]), &c_.keys[keys + j]));
    outputs_ = std::move(next);
  }

  Entry FromFirstRound(uint32_t j) {
    Entry entry;
    const Fr constant = rows_.folded * c_.mds[j];
    entry.lc.AddOne(constant);
    entry.value = Given<Cs>([&] { return constant; });
    for (uint32_t i = 1; i < t_; ++i) AddTerm(entry, outputs_[i - 1], c_.mds[size_t{i} * t_ + j]);
    return entry;
  }
  Entry FromMds(uint32_t j) {
    Entry entry;
    for (uint32_t i = 0; i < t_; ++i) AddTerm(entry, outputs_[i], c_.mds[size_t{i} * t_ + j]);
    return entry;
  }
  Entry Combine(const std::vector<Fr>& coefficients) {
    Entry entry;
    for (size_t i = 0; i < coefficients.size(); ++i) AddTerm(entry, outputs_[i], coefficients[i]);
    return entry;
  }
  void AddTerm(Entry& entry, const N& x, const Fr& k) {
    entry.lc.Add(x, k);
    entry.value += x.value * k;
  }

  N Ensure(Entry entry) {
    N l = cs_.AllocateNum(entry.value);
    cs_.Enforce(std::move(entry.lc), One<Cs>(), Just<Cs>(l));
    return l;
  }
  N SBox(Entry entry, const Fr* key) {
    const N l = Ensure(std::move(entry));
    const N l2 = cs_.AllocateNum(l.value.Square());
    cs_.Enforce(Just<Cs>(l), Just<Cs>(l), Just<Cs>(l2));
    const N l4 = cs_.AllocateNum(l2.value.Square());
    cs_.Enforce(Just<Cs>(l2), Just<Cs>(l2), Just<Cs>(l4));
    const auto power = l4.value * l.value;
    const N l5 = cs_.AllocateNum(key != nullptr ? power + *key : power);
    Lc product = Just<Cs>(l5);
    if (key != nullptr) product.AddOne(-*key);
    cs_.Enforce(Just<Cs>(l), Just<Cs>(l4), std::move(product));
    return l5;
  }

  Cs& cs_;
  const PoseidonRows& rows_;
  const PoseidonConstants& c_;
  const uint32_t t_;
  std::vector<N> outputs_;  // of the S-boxes that the state is made of
};

template <class Cs>
Num<Cs> PoseidonRowsOf(Cs& cs, const PoseidonRows& rows, std::span<const Num<Cs>> preimage,
                       [[maybe_unused]] const Fr& tag) {
  [[maybe_unused]] auto scope = cs.Scope("poseidon");
  if constexpr (Cs::kNativeBodies) {
    std::array<Fr, kMaxPoseidonWidth> values;
    for (size_t i = 0; i < preimage.size(); ++i) values[i] = preimage[i].value;
    return {{}, WritePoseidon(cs, rows, std::span<const Fr>(values).first(preimage.size()), tag)};
  } else {
    return PoseidonBody<Cs>(cs, rows).Run(preimage);
  }
}

}  // namespace internal

/// Poseidon of nums with the tag of Merkle trees; the arity is their number.
template <class Cs>
Num<Cs> PoseidonMerkle(Cs& cs, std::span<const Num<Cs>> preimage) {
  const auto arity = static_cast<uint32_t>(preimage.size());
  return internal::PoseidonRowsOf(cs, PoseidonRows::MerkleTree(arity), preimage, MerkleTag(arity));
}
template <class Cs>
Num<Cs> PoseidonPair(Cs& cs, const Num<Cs>& a, const Num<Cs>& b) {
  const std::array<Num<Cs>, 2> preimage = {a, b};
  return PoseidonMerkle<Cs>(cs, preimage);
}
/// Arity 2 with the tag of SnapDeals' randomness.
template <class Cs>
Num<Cs> PoseidonRandomnessGadget(Cs& cs, const Num<Cs>& a, const Num<Cs>& b) {
  const std::array<Num<Cs>, 2> preimage = {a, b};
  return internal::PoseidonRowsOf<Cs>(cs, PoseidonRows::Randomness(), preimage, RandomnessTag());
}

}  // namespace cuzk::circuit
