#pragma once
// Values as gadgets compute them: nothing at all where a system has none.

#include <array>
#include <cstdint>
#include <span>

#include "core/algebra/field/fr.h"
#include "core/r1cs/system.h"
#include "core/r1cs/writer.h"

namespace cuzk::circuit {

using algebra::Fr;

template <class Cs>
class Boolean;

/// 256 bits, least significant word first.
using Words256 = std::array<uint64_t, 4>;

template <class Cs, bool kComputes = Cs::kComputes>
struct Values;

template <class Cs>
struct Values<Cs, false> {
  struct Word {};
  static constexpr r1cs::NoFlag BitOf(Word, unsigned) { return {}; }
  static constexpr Word Canonical(r1cs::NoScalar) { return {}; }
  static constexpr r1cs::NoScalar FromWord(Word) { return {}; }
  static constexpr r1cs::NoScalar Pack(std::span<const Boolean<Cs>>) { return {}; }
};

template <class Cs>
struct Values<Cs, true> {
  using Word = Words256;
  static bool BitOf(const Word& word, unsigned i) { return word[i / 64] >> (i % 64) & 1; }
  static Word Canonical(const Fr& x) { return x.ToCanonical(); }
  static Fr FromWord(const Word& canonical) { return Fr::FromCanonical(canonical); }
  /// sum of 2^i b_i, for at most 254 bits.
  static Fr Pack(std::span<const Boolean<Cs>> bits) {
    Word word{};
    for (size_t i = 0; i < bits.size(); ++i) word[i / 64] |= static_cast<uint64_t>(bits[i].value()) << (i % 64);
    return Fr::FromCanonical(word);
  }
};

/// A native integer as a Word of the system.
template <class Cs, class F>
typename Values<Cs>::Word GivenWord(F&& value) {
  if constexpr (Cs::kComputes) {
    return Words256{value()};
  } else {
    return {};
  }
}

/// Native body of `count` <= 256 allocated bits with their boolean rows.
void WriteBits(r1cs::WitnessWriter& cs, const Words256& value, unsigned count);
/// Native body of the row that ties a number to its bits: all sides are 0, C is wide.
void WriteZeroRow(r1cs::WitnessWriter& cs);

}  // namespace cuzk::circuit
