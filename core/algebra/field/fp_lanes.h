#pragma once
// Eight elements of Fp at a time, in eight limbs of 52 bits, and of Fp2 by its template. See lanes52.h for who may
// include this.
//
// 2^416 is 2^35 times the modulus p, so nothing between two products is ever reduced: a value is any representative in
// (-2^15 p, 2^15 p), its limbs are signed words. A product adds 2^16 p to each factor, which makes it positive,
// carries, and is below 1.7 p; its limbs are below 2^57. Sums and differences of up to 30 products therefore need no
// care.
//
// Products divide by 2^416 where the memory form of Fp holds x 2^384. An element read as it lies in memory is 2^-32
// times the element there; formulas that are homogeneous do not mind (batch_add_kernel.h), others convert.

#include <bit>

#include "core/algebra/field/fp2.h"
#include "core/algebra/simd/lanes52.h"

namespace cuzk::algebra {
namespace {  // NOLINT: see lanes52.h

struct FpLaneParams {
  static constexpr Constant52<8> kModulus52 = ToLimbs52<8>(FpParams::kModulus);
  static constexpr uint64_t kNegInverse52 = Fp::Constants::kNegInverse & kMask52;
  static constexpr LimbFold<8> kFold = LimbFold<8>::Of(kModulus52, kNegInverse52);
};
/// k p.
template <uint64_t k>
inline constexpr Constant52<8> kFpMultiple = Times(FpLaneParams::kModulus52, k);

using FpWide = Wide<8>;

/// Which of the eight lanes; bit i is lane i.
using LaneMask = __mmask8;
inline constexpr LaneMask kAllLanes = 0xff;

/// The six words of eight elements at at(0) … at(7), word by word. 64 bytes are read, beginning kSkip words (an even
/// number) before each element.
template <size_t kSkip, class At>
[[gnu::always_inline]] inline void GatherWords(At at, __m512i (&w)[6]) {
  // Even and odd words of lanes 0 and 1, 2 and 3, …: 128 bits for each pair of words.
  __m512i even[4], odd[4];
#pragma GCC unroll 4
  for (size_t i = 0; i < 4; ++i) {
    __m512i a = _mm512_loadu_si512(at(2 * i) - kSkip), b = _mm512_loadu_si512(at(2 * i + 1) - kSkip);
    even[i] = _mm512_unpacklo_epi64(a, b);
    odd[i] = _mm512_unpackhi_epi64(a, b);
  }
  constexpr long long k = kSkip;
  const __m512i first_two = _mm512_setr_epi64(k, k + 1, k + 8, k + 9, k + 2, k + 3, k + 10, k + 11);
  const __m512i third = _mm512_setr_epi64(k + 4, k + 5, k + 12, k + 13, 0, 0, 0, 0);
#pragma GCC unroll 2
  for (size_t parity = 0; parity < 2; ++parity) {
    const __m512i(&x)[4] = parity ? odd : even;
    __m512i low = _mm512_permutex2var_epi64(x[0], first_two, x[1]);
    __m512i high = _mm512_permutex2var_epi64(x[2], first_two, x[3]);
    w[parity] = _mm512_shuffle_i64x2(low, high, 0x44);
    w[parity + 2] = _mm512_shuffle_i64x2(low, high, 0xee);
    low = _mm512_permutex2var_epi64(x[0], third, x[1]);
    high = _mm512_permutex2var_epi64(x[2], third, x[3]);
    w[parity + 4] = _mm512_shuffle_i64x2(low, high, 0x44);
  }
}

/// The inverse of GatherWords: writes 48 bytes to each address.
template <class At>
[[gnu::always_inline]] inline void ScatterWords(const __m512i (&w)[6], At at) {
  // Words (0, 1), (2, 3), (4, 5) of even and of odd lanes.
  __m512i even[3], odd[3];
#pragma GCC unroll 3
  for (size_t k = 0; k < 3; ++k) {
    even[k] = _mm512_unpacklo_epi64(w[2 * k], w[2 * k + 1]);
    odd[k] = _mm512_unpackhi_epi64(w[2 * k], w[2 * k + 1]);
  }
#pragma GCC unroll 2
  for (size_t parity = 0; parity < 2; ++parity) {
    const __m512i(&x)[3] = parity ? odd : even;
    // Lanes parity, parity + 2, … are the 128-bit pieces 0 … 3.
    const __m512i take02 = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i take13 = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    __m512i low02 = _mm512_permutex2var_epi64(x[0], take02, x[1]);
    __m512i low13 = _mm512_permutex2var_epi64(x[0], take13, x[1]);
    auto put = [&](size_t lane, __m256i four, __m128i two) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(at(lane)), four);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(at(lane) + 4), two);
    };
    put(parity, _mm512_castsi512_si256(low02), _mm512_castsi512_si128(x[2]));
    put(parity + 2, _mm512_castsi512_si256(low13), _mm512_extracti64x2_epi64(x[2], 1));
    put(parity + 4, _mm512_extracti64x4_epi64(low02, 1), _mm512_extracti64x2_epi64(x[2], 2));
    put(parity + 6, _mm512_extracti64x4_epi64(low13, 1), _mm512_extracti64x2_epi64(x[2], 3));
  }
}

[[gnu::always_inline]] inline FpWide WordsToLimbs(const __m512i (&w)[6]) {
  const __m512i mask = Broadcast(kMask52);
  auto join = [&](size_t i, int right, int left) {
    return _mm512_and_si512(_mm512_or_si512(_mm512_srli_epi64(w[i], right), _mm512_slli_epi64(w[i + 1], left)), mask);
  };
  return {{_mm512_and_si512(w[0], mask), join(0, 52, 12), join(1, 40, 24), join(2, 28, 36), join(3, 16, 48),
           _mm512_and_si512(_mm512_srli_epi64(w[4], 4), mask), join(4, 56, 8), _mm512_srli_epi64(w[5], 44)}};
}
/// From carried limbs of a value below 2^384.
[[gnu::always_inline]] inline void LimbsToWords(const FpWide& v, __m512i (&w)[6]) {
  const __m512i* l = v.limb;
  auto join = [](__m512i low, int right, __m512i high, int left) {
    return _mm512_or_si512(_mm512_srli_epi64(low, right), _mm512_slli_epi64(high, left));
  };
  w[0] = join(l[0], 0, l[1], 52);
  w[1] = join(l[1], 12, l[2], 40);
  w[2] = join(l[2], 24, l[3], 28);
  w[3] = join(l[3], 36, l[4], 16);
  w[4] = _mm512_or_si512(join(l[4], 48, l[5], 4), _mm512_slli_epi64(l[6], 56));
  w[5] = join(l[6], 8, l[7], 44);
}

/// 2^415 / p, rounded down.
inline constexpr uint64_t kFpReciprocal = 0x4ec1ae979;
static_assert(Times(FpLaneParams::kModulus52, kFpReciprocal).limb[7] < uint64_t{1} << 51);
static_assert(Times(FpLaneParams::kModulus52, kFpReciprocal + 1).limb[7] >= uint64_t{1} << 51);

/// Carried and in [0, p), from any value.
[[gnu::always_inline]] inline FpWide Canonical(const FpWide& a) {
  FpWide v = Carried(AddConstant(a, kFpMultiple<1 << 16>));
  const __m512i zero = _mm512_setzero_si512();
  // The quotient by p from the top limb, at most one too small: v / p = (v / 2^364) (2^415 / p) / 2^51.
  __m512i q = _mm512_madd52hi_epu64(zero, _mm512_slli_epi64(v.limb[7], 1), Broadcast(kFpReciprocal));
  FpWide product;
#pragma GCC unroll 8
  for (size_t i = 0; i < 8; ++i) {
    product.limb[i] = _mm512_madd52lo_epu64(zero, q, Broadcast(FpLaneParams::kModulus52.limb[i]));
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < 7; ++i) {
    product.limb[i + 1] = _mm512_madd52hi_epu64(product.limb[i + 1], q, Broadcast(FpLaneParams::kModulus52.limb[i]));
  }
  return SubtractOnce(Carried(Sub(v, product)), kFpMultiple<1>);
}

/// Eight elements ready to be multiplied: carried and not negative.
struct FpX8;
struct FpX8Factor {
  FpWide wide;

  /// What AsFactor was called for.
  FpX8 Value() const;
};
/// Products are not negative. What enters several of them is made a factor once.
[[gnu::noinline, maybe_unused]] FpX8 operator*(const FpX8Factor& a, const FpX8Factor& b);
[[gnu::noinline, maybe_unused]] FpX8 Square(const FpX8Factor& a);

/// Eight elements. Comparisons are true if they hold in all lanes.
struct FpX8 {
  using Factor = FpX8Factor;
  FpWide wide;

  /// Products divide by 2 to this power.
  static constexpr unsigned kFormBits = 416;
  /// 2^k in the form of products, k < 416 + 381.
  static constexpr Constant52<8> PowerOfTwo(unsigned k) {
    FieldConstants<FpParams>::Limbs x = FieldConstants<FpParams>::PowerOfTwo(k);
    return ToLimbs52<8>(x.v);
  }
  static FpX8 Constant(const Constant52<8>& c) {
    FpX8 r;
    for (size_t i = 0; i < 8; ++i) r.wide.limb[i] = Broadcast(c.limb[i]);
    return r;
  }
  static FpX8 Zero() { return Constant({}); }
  static FpX8 One() {
    static constexpr Constant52<8> kOne = PowerOfTwo(416);
    return Constant(kOne);
  }

  friend FpX8 operator+(const FpX8& a, const FpX8& b) { return {Add(a.wide, b.wide)}; }
  friend FpX8 operator-(const FpX8& a, const FpX8& b) { return {Sub(a.wide, b.wide)}; }
  friend FpX8 operator*(const FpX8& a, const FpX8& b) { return a.AsFactor() * b.AsFactor(); }
  FpX8 operator-() const { return Zero() - *this; }
  FpX8& operator+=(const FpX8& b) { return *this = *this + b; }
  FpX8& operator-=(const FpX8& b) { return *this = *this - b; }
  FpX8& operator*=(const FpX8& b) { return *this = *this * b; }
  FpX8 Double() const { return *this + *this; }
  FpX8 Square() const { return algebra::Square(AsFactor()); }

  FpX8Factor AsFactor() const { return {Carried(AddConstant(wide, kFpMultiple<1 << 16>))}; }
  /// The same for a product or a sum of products.
  FpX8Factor ProductAsFactor() const { return {Carried(wide)}; }

  LaneMask ZeroLanes() const { return ZeroLimbs(Canonical(wide)); }
  bool IsZero() const { return ZeroLanes() == kAllLanes; }
  friend bool operator==(const FpX8& a, const FpX8& b) { return (a - b).IsZero(); }

  /// Lanes in which every limb is zero.
  static LaneMask ZeroLimbs(const FpWide& v) {
    __m512i any = v.limb[0];
    for (size_t i = 1; i < 8; ++i) any = _mm512_or_si512(any, v.limb[i]);
    return _mm512_testn_epi64_mask(any, any);
  }
  /// a where the mask is set, else b.
  static FpX8 Select(LaneMask mask, const FpX8& a, const FpX8& b) {
    FpX8 r;
    for (size_t i = 0; i < 8; ++i) r.wide.limb[i] = _mm512_mask_mov_epi64(b.wide.limb[i], mask, a.wide.limb[i]);
    return r;
  }
  FpX8 NegatedWhere(LaneMask mask) const {
    FpX8 r;
    for (size_t i = 0; i < 8; ++i) {
      r.wide.limb[i] = _mm512_mask_sub_epi64(wide.limb[i], mask, _mm512_setzero_si512(), wide.limb[i]);
    }
    return r;
  }

  // How the affine formulas deal with the factor 2^-32 of memory form: the inverse, and so the slope, is the true one;
  // its square is divided.

  static constexpr unsigned kSlopeBits = 0;
  static constexpr size_t kBatchBytes = 98304;
  FpX8 AsSquareOfSlope() const { return DividedBy2To32(); }
  const FpX8& TimesSlopeUnit() const { return *this; }

  /// Divided by 2^32. The value is not negative.
  FpX8 DividedBy2To32() const {
    // One more step of Montgomery's reduction, of 32 bits: make the low 32 bits zero and move them out.
    const __m512i zero = _mm512_setzero_si512();
    __m512i m = _mm512_madd52lo_epu64(zero, wide.limb[0], Broadcast(FpLaneParams::kNegInverse52));
    m = _mm512_and_si512(m, Broadcast(0xffffffff));
    FpWide t = wide;
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) {
      t.limb[i] = _mm512_madd52lo_epu64(t.limb[i], m, Broadcast(FpLaneParams::kModulus52.limb[i]));
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < 7; ++i) {
      t.limb[i + 1] = _mm512_madd52hi_epu64(t.limb[i + 1], m, Broadcast(FpLaneParams::kModulus52.limb[i]));
    }
    FpX8 r;
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) {
      r.wide.limb[i] = _mm512_srli_epi64(t.limb[i], 32);
      if (i < 7) {
        // The low 32 bits of the next limb, 20 bits up.
        r.wide.limb[i] = _mm512_add_epi64(r.wide.limb[i], _mm512_mul_epu32(t.limb[i + 1], Broadcast(1 << 20)));
      }
    }
    return r;
  }

  /// Words of memory as they are; at(i) is the address of lane i. See GatherWords for what is read.
  template <size_t kSkip, class At>
  [[gnu::always_inline]] static FpX8 Gather(At at) {
    __m512i w[6];
    GatherWords<kSkip>(at, w);
    return {WordsToLimbs(w)};
  }
  /// Words of the canonical representative of the value as it is.
  template <class At>
  [[gnu::always_inline]] void Scatter(At at) const {
    __m512i w[6];
    LimbsToWords(Canonical(wide), w);
    ScatterWords(w, at);
  }

  /// Elements in memory form, with the conversion of both Montgomery forms.
  static FpX8 FromMemory(const Fp* p) {
    static constexpr Constant52<8> kUp = PowerOfTwo(416 + 32);
    alignas(64) uint64_t words[8][8] = {};
    for (size_t i = 0; i < 8; ++i) std::memcpy(words[i], p + i, sizeof(Fp));
    return Gather<0>([&](size_t i) { return words[i]; }) * Constant(kUp);
  }
  void ToMemory(Fp* p) const {
    static constexpr Constant52<8> kDown = PowerOfTwo(384);
    (*this * Constant(kDown)).Scatter([&](size_t i) { return p[i].limb; });
  }
};

[[gnu::noinline]] FpX8 operator*(const FpX8Factor& a, const FpX8Factor& b) {
  return {MontgomeryProduct<FpLaneParams>(a.wide, LaneFactor<8>{b.wide})};
}
[[gnu::noinline]] FpX8 Square(const FpX8Factor& a) { return {MontgomeryReduce<FpLaneParams>(LongSquare(a.wide))}; }
[[gnu::always_inline]] inline FpX8Factor AsFactor(const FpX8& a) { return a.AsFactor(); }
[[gnu::always_inline]] inline FpX8 FpX8Factor::Value() const { return {SubConstant(wide, kFpMultiple<1 << 16>)}; }

// Of two elements and their factors: the sum and the difference, factors too.

[[gnu::always_inline]] inline FpX8Factor SumAsFactor(const FpX8&, const FpX8&, const FpX8Factor& a,
                                                     const FpX8Factor& b) {
  return {Carried(Add(a.wide, b.wide))};
}
[[gnu::always_inline]] inline FpX8Factor DifferenceAsFactor(const FpX8Factor& a, const FpX8Factor& b) {
  return FpX8{Sub(a.wide, b.wide)}.AsFactor();
}

}  // namespace
}  // namespace cuzk::algebra

#include "core/algebra/field/fp2_lanes.h"
