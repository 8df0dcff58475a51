#pragma once
// 32-bit words of SHA-256 for the witness writer: a word is three masks, and each operation makes its rows and
// variables 32 at a time.

#include <array>
#include <span>

#include "core/circuit/sha256/word.h"
#include "core/r1cs/writer.h"

namespace cuzk::circuit {

template <>
class MultiEq<r1cs::WitnessWriter> {
 public:
  explicit MultiEq(r1cs::WitnessWriter& cs) : cs_(cs) {}
  MultiEq(const MultiEq&) = delete;
  MultiEq& operator=(const MultiEq&) = delete;

  /// Both sides of an equation have the same value.
  void Add(uint64_t total, unsigned bits) {
    if (used_ + bits >= kPackedBits) Flush();
    const unsigned word = used_ / 64, shift = used_ % 64;
    sum_[word] |= total << shift;
    if (shift != 0 && word + 1 < sum_.size()) sum_[word + 1] |= total >> (64 - shift);
    used_ += bits;
  }
  void Flush();

 private:
  r1cs::WitnessWriter& cs_;
  unsigned used_ = 0;
  Words256 sum_{};
};

template <>
class Word<r1cs::WitnessWriter> {
 public:
  using Cs = r1cs::WitnessWriter;
  static Word Constant(uint32_t value) { return Word(value, ~0u, value); }
  static Word FromBigEndian(std::span<const Boolean<Cs>> bits);
  void AppendBigEndian(Booleans<Cs>& out) const;

  Word RotateRight(unsigned n) const {
    return Word(std::rotr(value_, static_cast<int>(n)), std::rotr(constant_, static_cast<int>(n)),
                std::rotr(inverted_, static_cast<int>(n)));
  }
  Word ShiftRight(unsigned n) const { return Word(value_ >> n, constant_ >> n | ~(~0u >> n), inverted_ >> n); }

  static Word Xor(Cs& cs, const Word& a, const Word& b);
  static Word Choice(Cs& cs, const Word& a, const Word& b, const Word& c);
  static Word Majority(Cs& cs, const Word& a, const Word& b, const Word& c);
  static Word Sum(Cs& cs, MultiEq<Cs>& equations, std::span<const Word> operands);

 private:
  Word(uint32_t value, uint32_t constant, uint32_t inverted)
      : value_(value), constant_(constant), inverted_(inverted) {}
  /// The plain body of one bit, for words that are partly constant.
  Boolean<Cs> At(unsigned i) const;
  void Set(unsigned i, const Boolean<Cs>& bit);
  /// The bits of the variables themselves: 0 where constant.
  uint32_t raw() const { return value_ ^ inverted_; }

  uint32_t value_ = 0;     // logical values
  uint32_t constant_ = 0;  // where the bit is a constant
  uint32_t inverted_ = 0;  // where the bit is the negation of its variable; the value where it is constant
};

}  // namespace cuzk::circuit
