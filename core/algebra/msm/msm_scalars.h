#pragma once
// Scalars as the buckets want them: sign and magnitude, with digits that can be read in any order.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "core/algebra/field/fr.h"

namespace cuzk::algebra {

/// How a scalar is cut into windows of `bits` bits: `windows` of them, the digits of all but the top one signed.
struct WindowShape {
  unsigned bits;
  unsigned windows;

  /// For magnitudes below 2^magnitude_bits. The top window has room for the carry, so digits are -B .. B with
  /// B = Buckets().
  static constexpr WindowShape For(unsigned bits, unsigned magnitude_bits) { return {bits, magnitude_bits / bits + 1}; }
  constexpr uint32_t Buckets() const { return 1u << (bits - 1); }
};

/// A scalar's smaller representative: k or r - k, whichever is below r/2 < 2^254.
struct SignedScalar {
  static constexpr unsigned kBits = 254;
  std::array<uint64_t, 4> magnitude;
  bool negative;

  static SignedScalar From(const Fr& k) {
    SignedScalar s{k.ToCanonical(), false};
    std::array<uint64_t, 4> other{};
    uint64_t borrow = 0;
    for (size_t i = 0; i < 4; ++i) {
      borrow = HostLimbs::SubBorrow(FrParams::kModulus[i], s.magnitude[i], borrow, other[i]);
    }
    for (size_t i = 4; i-- > 0;) {
      if (other[i] == s.magnitude[i]) continue;
      if (other[i] < s.magnitude[i]) s = {other, true};
      break;
    }
    return s;
  }
  friend bool operator==(const SignedScalar&, const SignedScalar&) = default;
  unsigned BitLength() const {
    for (size_t i = 4; i-- > 0;) {
      if (magnitude[i] != 0) return 64 * static_cast<unsigned>(i) + 64 - __builtin_clzll(magnitude[i]);
    }
    return 0;
  }
};

/// A scalar in 32 bytes: the magnitude, and the sign in the top bit. Before its digits are read, Cut adds half a window
/// to every window but the top one: then digit w is window w less that half, with no carries to follow.
class DigitScalar {
 public:
  DigitScalar() = default;
  explicit DigitScalar(const SignedScalar& s) : words_(s.magnitude) {
    words_[3] |= static_cast<uint64_t>(s.negative) << 63;
  }

  /// The scalar; before Cut.
  SignedScalar Value() const { return {{words_[0], words_[1], words_[2], Word(3)}, words_[3] >> 63 != 0}; }
  /// Once, into windows that are wide enough for the magnitude.
  void Cut(const WindowShape& shape) {
    for (unsigned w = 0; w + 1 < shape.windows; ++w) AddBit(w * shape.bits + shape.bits - 1);
  }

  /// Where the digits of one window lie in a scalar that was cut; a window has at most 32 bits.
  class Window {
   public:
    Window(unsigned w, const WindowShape& shape)
        : byte_(std::min(w * shape.bits / 8, 24u)),
          shift_(w * shape.bits - 8 * byte_),
          mask_((uint64_t{1} << std::min(shape.bits, 255 - w * shape.bits)) - 1),
          half_(w + 1 < shape.windows ? static_cast<int32_t>(shape.Buckets()) : 0) {}

   private:
    friend DigitScalar;
    const unsigned byte_, shift_;
    const uint64_t mask_;  // without the sign
    const int32_t half_;
  };
  /// The digit of a window, with the sign of the scalar in it; after Cut into its shape.
  int32_t Digit(const Window& w) const {
    uint64_t bits;
    std::memcpy(&bits, reinterpret_cast<const char*>(words_.data()) + w.byte_, sizeof bits);
    const int32_t digit = static_cast<int32_t>(bits >> w.shift_ & w.mask_) - w.half_;
    const auto sign = static_cast<int32_t>(words_[3] >> 63);
    return (digit ^ -sign) + sign;
  }

 private:
  uint64_t Word(unsigned i) const { return i == 3 ? words_[3] & ~(uint64_t{1} << 63) : words_[i]; }
  void AddBit(unsigned bit) {
    uint64_t addend = uint64_t{1} << (bit % 64);
    for (unsigned i = bit / 64; i < 4 && addend != 0; ++i) {
      words_[i] += addend;
      addend = words_[i] < addend ? 1 : 0;
    }
  }
  std::array<uint64_t, 4> words_;
};

}  // namespace cuzk::algebra
