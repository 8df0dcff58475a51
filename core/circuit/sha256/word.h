#pragma once
// 32-bit words of SHA-256: the plain bodies, bit by bit. The writer's own bodies are in word_native.h.

#include <array>
#include <bit>
#include <span>

#include "core/circuit/values/bits.h"

namespace cuzk::circuit {

/// Sums are compared several to a row: each takes its bits' width in both sides of one equation.
template <class Cs>
class MultiEq {
 public:
  explicit MultiEq(Cs& cs) : cs_(cs) {}
  MultiEq(const MultiEq&) = delete;
  MultiEq& operator=(const MultiEq&) = delete;

  /// Makes room for `bits` more; returns the shift at which both sides are to be added to left() and right().
  unsigned Reserve(unsigned bits) {
    if (used_ + bits >= kPackedBits) Flush();
    const unsigned shift = used_;
    used_ += bits;
    return shift;
  }
  typename Cs::Lc& left() { return left_; }
  typename Cs::Lc& right() { return right_; }

  /// [left] * [1] = [right], if anything is pending. Must be called at the end.
  void Flush() {
    if (used_ == 0) return;
    [[maybe_unused]] auto scope = cs_.Scope("packed sums");
    cs_.Enforce(std::exchange(left_, {}), One<Cs>(), std::exchange(right_, {}));
    used_ = 0;
  }

 private:
  Cs& cs_;
  unsigned used_ = 0;
  typename Cs::Lc left_, right_;
};

/// 32 booleans, least significant first.
template <class Cs>
class Word {
 public:
  static Word Constant(uint32_t value) {
    Word word;
    for (unsigned i = 0; i < 32; ++i) word.bits_[i] = Boolean<Cs>::Constant(value >> i & 1);
    return word;
  }
  /// From 32 booleans, most significant first.
  static Word FromBigEndian(std::span<const Boolean<Cs>> bits) {
    Word word;
    for (unsigned i = 0; i < 32; ++i) word.bits_[i] = bits[31 - i];
    return word;
  }
  void AppendBigEndian(Booleans<Cs>& out) const { out.insert(out.end(), bits_.rbegin(), bits_.rend()); }

  Word RotateRight(unsigned n) const {
    Word word;
    for (unsigned i = 0; i < 32; ++i) word.bits_[i] = bits_[(i + n) % 32];
    return word;
  }
  Word ShiftRight(unsigned n) const {
    Word word;  // zeros
    for (unsigned i = 0; i + n < 32; ++i) word.bits_[i] = bits_[i + n];
    return word;
  }

  static Word Xor(Cs& cs, const Word& a, const Word& b) {
    Word word;
    for (unsigned i = 0; i < 32; ++i) {
      [[maybe_unused]] auto scope = cs.Scope("xor of bit", i);
      word.bits_[i] = circuit::Xor(cs, a.bits_[i], b.bits_[i]);
    }
    return word;
  }
  static Word Choice(Cs& cs, const Word& a, const Word& b, const Word& c) {
    Word word;
    for (unsigned i = 0; i < 32; ++i) {
      [[maybe_unused]] auto scope = cs.Scope("choice of bit", i);
      word.bits_[i] = ShaChoice(cs, a.bits_[i], b.bits_[i], c.bits_[i]);
    }
    return word;
  }
  static Word Majority(Cs& cs, const Word& a, const Word& b, const Word& c) {
    Word word;
    for (unsigned i = 0; i < 32; ++i) {
      [[maybe_unused]] auto scope = cs.Scope("majority of bit", i);
      word.bits_[i] = ShaMajority(cs, a.bits_[i], b.bits_[i], c.bits_[i]);
    }
    return word;
  }

  /// The sum modulo 2^32. Nothing is allocated if every operand is constant.
  static Word Sum(Cs& cs, MultiEq<Cs>& equations, std::span<const Word> operands) {
    if (AllConstant(operands)) {
      uint32_t sum = 0;
      for (const Word& operand : operands) sum += operand.ConstantValue();
      return Constant(sum);
    }
    const auto total = GivenWord<Cs>([&] { return Words256{Total(operands), 0, 0, 0}; });
    const auto width = static_cast<unsigned>(std::bit_width(operands.size() * 0xffffffffull));
    const std::vector<Bit<Cs>> bits = AllocateBits(cs, total, width);
    const unsigned shift = equations.Reserve(width);
    for (const Word& operand : operands) {
      for (unsigned i = 0; i < 32; ++i) operand.bits_[i].AddShiftedTo(equations.left(), shift + i);
    }
    for (unsigned i = 0; i < width; ++i) equations.right().AddShifted(bits[i], shift + i);
    Word word;
    for (unsigned i = 0; i < 32; ++i) word.bits_[i] = Boolean<Cs>::Is(bits[i]);
    return word;
  }

 private:
  static bool AllConstant(std::span<const Word> operands) {
    for (const Word& operand : operands) {
      for (const Boolean<Cs>& bit : operand.bits_) {
        if (!bit.is_constant()) return false;
      }
    }
    return true;
  }
  uint32_t ConstantValue() const {
    uint32_t value = 0;
    for (unsigned i = 0; i < 32; ++i) value |= static_cast<uint32_t>(bits_[i].IsConstant(true)) << i;
    return value;
  }
  static uint64_t Total(std::span<const Word> operands) {
    uint64_t total = 0;
    for (const Word& operand : operands) {
      for (unsigned i = 0; i < 32; ++i) {
        if constexpr (Cs::kComputes) total += static_cast<uint64_t>(operand.bits_[i].value()) << i;
      }
    }
    return total;
  }

  std::array<Boolean<Cs>, 32> bits_;
};

}  // namespace cuzk::circuit
