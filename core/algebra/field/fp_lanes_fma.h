#pragma once
// Eight elements of Fp at a time, in eight limbs of 49 bits, and of Fp2 by its template, for processors with AVX2 and
// FMA. The same names as in fp_lanes.h, for the same templates; a file includes one of the two.
//
// 2^392 is 2^11 times the modulus p, so nothing between two products is ever reduced: a value is any representative,
// its limbs are signed words. A product of factors a and b is within p of a b / 2^392: sums and differences of up to 30
// products may be factors.
//
// Products divide by 2^392 where the memory form of Fp holds x 2^384. An element read as it lies in memory is 2^-8
// times the element there; formulas that are homogeneous do not mind (batch_add_kernel.h), others convert.

#include <cstring>

#include "core/algebra/field/fp2.h"
#include "core/algebra/simd/lanes49.h"

namespace cuzk::algebra {
namespace {  // NOLINT: see lanes52.h

struct FpLaneParams {
  static constexpr Constant49<8> kModulus49 = ToLimbs49<8>(FpParams::kModulus);
  static constexpr ConstantFactor<8> kModulus = ToFactor(kModulus49);
  static constexpr double kNegInverse = InverseLimb(Fp::Constants::kNegInverse);
  static constexpr ConstantFactor<8> kFold = LimbFold(kModulus49, Fp::Constants::kNegInverse& kMask49);
};

using FpWide = Wide<8>;

/// Which of the eight lanes; bit i is lane i.
using LaneMask = uint8_t;
inline constexpr LaneMask kAllLanes = 0xff;

/// All bits of the lanes in the mask.
[[gnu::always_inline]] inline WordX8 Expanded(LaneMask mask) {
  const __m256i bits = _mm256_set1_epi64x(mask);
  const __m256i low = _mm256_setr_epi64x(1, 2, 4, 8), high = _mm256_setr_epi64x(16, 32, 64, 128);
  return {
      {_mm256_cmpeq_epi64(_mm256_and_si256(bits, low), low), _mm256_cmpeq_epi64(_mm256_and_si256(bits, high), high)}};
}
/// The top bits of all lanes.
[[gnu::always_inline]] inline LaneMask TopBits(const WordX8& a) {
  const int low = _mm256_movemask_pd(_mm256_castsi256_pd(a.half[0]));
  const int high = _mm256_movemask_pd(_mm256_castsi256_pd(a.half[1]));
  return static_cast<LaneMask>(low | high << 4);
}

/// The six words of eight elements at at(0) … at(7), word by word.
template <class At>
[[gnu::always_inline]] inline void GatherWords(At at, WordX8 (&w)[6]) {
#pragma GCC unroll 2
  for (size_t half = 0; half < 2; ++half) {
#pragma GCC unroll 3
    for (size_t k = 0; k < 6; k += 2) {
      auto two = [&](size_t i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at(4 * half + i) + k)); };
      const __m256i even = _mm256_set_m128i(two(2), two(0)), odd = _mm256_set_m128i(two(3), two(1));
      w[k].half[half] = _mm256_unpacklo_epi64(even, odd);
      w[k + 1].half[half] = _mm256_unpackhi_epi64(even, odd);
    }
  }
}
/// The inverse of GatherWords.
template <class At>
[[gnu::always_inline]] inline void ScatterWords(const WordX8 (&w)[6], At at) {
#pragma GCC unroll 2
  for (size_t half = 0; half < 2; ++half) {
#pragma GCC unroll 3
    for (size_t k = 0; k < 6; k += 2) {
      auto put = [&](size_t i, __m128i two) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(at(4 * half + i) + k), two);
      };
      const __m256i even = _mm256_unpacklo_epi64(w[k].half[half], w[k + 1].half[half]);
      const __m256i odd = _mm256_unpackhi_epi64(w[k].half[half], w[k + 1].half[half]);
      put(0, _mm256_castsi256_si128(even));
      put(1, _mm256_castsi256_si128(odd));
      put(2, _mm256_extracti128_si256(even, 1));
      put(3, _mm256_extracti128_si256(odd, 1));
    }
  }
}

[[gnu::always_inline]] inline FpWide WordsToLimbs(const WordX8 (&w)[6]) {
  auto join = [&](size_t i, int right, int left) { return (w[i] >> right | w[i + 1] << left) & kMask49; };
  return {{w[0] & kMask49, join(0, 49, 15), join(1, 34, 30), join(2, 19, 45), w[3] >> 4 & kMask49, join(3, 53, 11),
           join(4, 38, 26), w[5] >> 23}};
}
/// From carried limbs of a value below 2^384.
[[gnu::always_inline]] inline void LimbsToWords(const FpWide& v, WordX8 (&w)[6]) {
  const WordX8* l = v.limb;
  w[0] = l[0] | l[1] << 49;
  w[1] = l[1] >> 15 | l[2] << 34;
  w[2] = l[2] >> 30 | l[3] << 19;
  w[3] = l[3] >> 45 | l[4] << 4 | l[5] << 53;
  w[4] = l[5] >> 11 | l[6] << 38;
  w[5] = l[6] >> 26 | l[7] << 23;
}

/// Limbs in [0, 2^49); the last limb keeps what is left, with its sign.
[[gnu::always_inline]] inline FpWide Carried(FpWide a) {
  constexpr uint64_t kBias = uint64_t{1} << 62, kBiasCarry = kBias >> kBits49;
  WordX8 carry{};
#pragma GCC unroll 8
  for (size_t i = 0; i < 7; ++i) {
    WordX8 limb = a.limb[i] + (i == 0 ? kBias : kBias - kBiasCarry);
    if (i > 0) limb = limb + carry;
    a.limb[i] = limb & kMask49;
    carry = limb >> kBits49;
  }
  a.limb[7] = a.limb[7] + carry + (0 - kBiasCarry);
  return a;
}

/// 2^343 / p.
inline constexpr double kFpReciprocal = 0x1p343 / 0x1.a0111ea397fe7p380;
static_assert(FpParams::kModulus[5] == 0x1a0111ea397fe69a);

/// v + p in the lanes of the mask, carried.
[[gnu::noinline, maybe_unused]] void AddModulus(LaneMask mask, FpWide& v) {
  const WordX8 where = Expanded(mask);
  for (size_t i = 0; i < 8; ++i) v.limb[i] = v.limb[i] + (where & FpLaneParams::kModulus49.limb[i]);
  v = Carried(v);
}

/// Carried and in [0, p), from a value in (-7 p, 7 p).
[[gnu::always_inline]] inline FpWide Canonical(const FpWide& a) {
  // The quotient by p from the top limb alone, rounded down, but up from 2^-20 below a whole number. The lower limbs
  // carry less than that into the top one, so the remainder is below p and seldom negative.
  const DoubleX8 zero = BroadcastDouble(kLowZero);
  const DoubleX8 top = FromBits(a.limb[7] + kLowZeroBits) - zero;
  const DoubleX8 q = (FusedProduct(top, BroadcastDouble(kFpReciprocal), BroadcastDouble(0x1p-20 - 0.5)) + zero) - zero;
  FpWide v;
#pragma GCC unroll 8
  for (size_t i = 0; i < 8; ++i) {
    v.limb[i] = a.limb[i] - Bits(FusedProduct(q, BroadcastFrom(FpLaneParams::kModulus.limb[i]), zero)) + kLowZeroBits;
  }
  v = Carried(v);
  if (const LaneMask negative = TopBits(v.limb[7])) [[unlikely]]
    AddModulus(negative, v);
  return v;
}

/// Eight elements ready to be multiplied.
struct FpX8;
struct FpX8Factor {
  WideFactor<8> wide;

  FpX8 Value() const;
};
/// What enters several products is made a factor once.
[[gnu::noinline, maybe_unused]] FpX8 operator*(const FpX8Factor& a, const FpX8Factor& b);
[[gnu::noinline, maybe_unused]] FpX8 Square(const FpX8Factor& a);

/// Eight elements. Comparisons are true if they hold in all lanes.
struct FpX8 {
  using Factor = FpX8Factor;
  FpWide wide;

  /// Products divide by 2 to this power.
  static constexpr unsigned kFormBits = 392;
  /// 2^k in the form of products, k < 392 + 381.
  static constexpr Constant49<8> PowerOfTwo(unsigned k) {
    return ToLimbs49<8>(FieldConstants<FpParams>::PowerOfTwo(k).v);
  }
  static FpX8 Constant(const Constant49<8>& c) {
    FpX8 r;
    for (size_t i = 0; i < 8; ++i) r.wide.limb[i] = {{Broadcast(c.limb[i]), Broadcast(c.limb[i])}};
    return r;
  }
  static FpX8 Zero() { return Constant({}); }
  static FpX8 One() {
    static constexpr Constant49<8> kOne = PowerOfTwo(kFormBits);
    return Constant(kOne);
  }

  friend FpX8 operator+(const FpX8& a, const FpX8& b) { return {Add(a.wide, b.wide)}; }
  friend FpX8 operator-(const FpX8& a, const FpX8& b) { return {Sub(a.wide, b.wide)}; }
  friend FpX8 operator*(const FpX8& a, const FpX8& b) { return a.AsFactor() * b.AsFactor(); }
  FpX8 operator-() const { return Zero() - *this; }
  FpX8 Double() const { return *this + *this; }
  FpX8 Square() const { return algebra::Square(AsFactor()); }

  FpX8Factor AsFactor() const { return {ToFactor(wide)}; }
  FpX8Factor ProductAsFactor() const { return AsFactor(); }

  LaneMask ZeroLanes() const { return ZeroLimbs(Canonical((*this * One()).wide)); }
  bool IsZero() const { return ZeroLanes() == kAllLanes; }
  friend bool operator==(const FpX8& a, const FpX8& b) { return (a - b).IsZero(); }

  /// Lanes in which every limb is zero.
  static LaneMask ZeroLimbs(const FpWide& v) {
    WordX8 any = v.limb[0];
    for (size_t i = 1; i < 8; ++i) any = any | v.limb[i];
    const __m256i zero = _mm256_setzero_si256();
    return TopBits({{_mm256_cmpeq_epi64(any.half[0], zero), _mm256_cmpeq_epi64(any.half[1], zero)}});
  }
  /// a where the mask is set, else b.
  static FpX8 Select(LaneMask mask, const FpX8& a, const FpX8& b) {
    const WordX8 where = Expanded(mask);
    FpX8 r;
    for (size_t i = 0; i < 8; ++i) {
      for (size_t k = 0; k < 2; ++k) {
        r.wide.limb[i].half[k] = _mm256_blendv_epi8(b.wide.limb[i].half[k], a.wide.limb[i].half[k], where.half[k]);
      }
    }
    return r;
  }
  FpX8 NegatedWhere(LaneMask mask) const {
    const WordX8 where = Expanded(mask);
    FpX8 r;
    for (size_t i = 0; i < 8; ++i) r.wide.limb[i] = (wide.limb[i] ^ where) - where;
    return r;
  }

  // How the affine formulas deal with the factor 2^-8 of memory form: the inverse, and so the slope, is 2^-4 times the
  // true one, so that its square has the factor, and what else it multiplies is made 2^4 times as much.

  static constexpr unsigned kSlopeBits = 4;
  static constexpr size_t kBatchBytes = 49152;
  const FpX8& AsSquareOfSlope() const { return *this; }
  FpX8 TimesSlopeUnit() const {
    FpX8 r;
    for (size_t i = 0; i < 8; ++i) r.wide.limb[i] = wide.limb[i] << kSlopeBits;
    return r;
  }

  /// Words of memory as they are; at(i) is the address of lane i.
  template <size_t kSkip, class At>
  [[gnu::always_inline]] static FpX8 Gather(At at) {
    WordX8 w[6];
    GatherWords(at, w);
    return {WordsToLimbs(w)};
  }
  /// Words of the canonical representative of the value as it is, which is in (-7 p, 7 p).
  template <class At>
  [[gnu::always_inline]] void Scatter(At at) const {
    WordX8 w[6];
    LimbsToWords(Canonical(wide), w);
    ScatterWords(w, at);
  }

  /// Elements in memory form, with the conversion of both Montgomery forms.
  static FpX8 FromMemory(const Fp* p) {
    static constexpr Constant49<8> kUp = PowerOfTwo(2 * kFormBits - 384);
    return Gather<0>([&](size_t i) { return p[i].limb; }) * Constant(kUp);
  }
  void ToMemory(Fp* p) const {
    static constexpr Constant49<8> kDown = PowerOfTwo(384);
    (*this * Constant(kDown)).Scatter([&](size_t i) { return p[i].limb; });
  }
};

[[gnu::noinline]] FpX8 operator*(const FpX8Factor& a, const FpX8Factor& b) {
  return {MontgomeryReduce<FpLaneParams>(LongProduct(a.wide, b.wide))};
}
[[gnu::noinline]] FpX8 Square(const FpX8Factor& a) { return {MontgomeryReduce<FpLaneParams>(LongSquare(a.wide))}; }
[[gnu::always_inline]] inline FpX8Factor AsFactor(const FpX8& a) { return a.AsFactor(); }
[[gnu::always_inline]] inline FpX8 FpX8Factor::Value() const {
  FpX8 r;
#pragma GCC unroll 8
  for (size_t i = 0; i < 8; ++i) r.wide.limb[i] = Bits(wide.limb[i] + BroadcastDouble(kLowZero)) + (0 - kLowZeroBits);
  return r;
}
// Of two elements and their factors: the sum and the difference, factors too. A difference has limbs of up to 2^49, for
// one product with a factor that has not.

[[gnu::always_inline]] inline FpX8Factor SumAsFactor(const FpX8& a, const FpX8& b, const FpX8Factor&,
                                                     const FpX8Factor&) {
  return (a + b).AsFactor();
}
[[gnu::always_inline]] inline FpX8Factor DifferenceAsFactor(const FpX8Factor& a, const FpX8Factor& b) {
  FpX8Factor r;
#pragma GCC unroll 8
  for (size_t i = 0; i < 8; ++i) r.wide.limb[i] = a.wide.limb[i] - b.wide.limb[i];
  return r;
}

}  // namespace
}  // namespace cuzk::algebra

#include "core/algebra/field/fp2_lanes.h"
