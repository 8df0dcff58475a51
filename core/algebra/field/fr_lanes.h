#pragma once
// Eight elements of Fr at a time, in five limbs of 52 bits. See lanes52.h for who may include this.
//
// 2^260 is 35 times the modulus r, so values may run up to 35 r: a Montgomery product of x below 35 r and y below r is
// below 2 r. Products divide by 2^260, the memory form of Fr holds x 2^256: multiplying an element in memory form by a
// constant y 2^260 gives x y in memory form, which is all that a transform needs.

#include "core/algebra/field/fr.h"
#include "core/algebra/simd/lanes52.h"

namespace cuzk::algebra {
namespace {  // NOLINT: see lanes52.h

struct FrLaneParams {
  static constexpr Constant52<5> kModulus52 = ToLimbs52<5>(FrParams::kModulus);
  static constexpr uint64_t kNegInverse52 = Fr::Constants::kNegInverse & kMask52;
  static constexpr LimbFold<5> kFold = LimbFold<5>::Of(kModulus52, kNegInverse52);
};

using FrWide = Wide<5>;

/// The elements p[0], p[stride], …: four words each to five limbs of 52 bits, without any multiplication.
[[gnu::always_inline]] inline FrWide LoadFr(const Fr* p, size_t stride) {
  auto pair = [&](size_t i) {
    if (stride == 1) return _mm512_loadu_si512(p + i);
    __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + i * stride));
    __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + (i + 1) * stride));
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  };
  __m512i e01 = pair(0), e23 = pair(2), e45 = pair(4), e67 = pair(6);
  // Words 0 and 2, and words 1 and 3, of four elements in the order 0 2 . . 1 3 . ., which the last step undoes.
  __m512i a02 = _mm512_unpacklo_epi64(e01, e23), a13 = _mm512_unpackhi_epi64(e01, e23);
  __m512i b02 = _mm512_unpacklo_epi64(e45, e67), b13 = _mm512_unpackhi_epi64(e45, e67);
  const __m512i first = _mm512_setr_epi64(0, 4, 1, 5, 8, 12, 9, 13);
  const __m512i second = _mm512_setr_epi64(2, 6, 3, 7, 10, 14, 11, 15);
  __m512i w0 = _mm512_permutex2var_epi64(a02, first, b02), w2 = _mm512_permutex2var_epi64(a02, second, b02);
  __m512i w1 = _mm512_permutex2var_epi64(a13, first, b13), w3 = _mm512_permutex2var_epi64(a13, second, b13);
  const __m512i mask = Broadcast(kMask52);
  auto join = [&](__m512i low, int right, __m512i high, int left) {
    return _mm512_and_si512(_mm512_or_si512(_mm512_srli_epi64(low, right), _mm512_slli_epi64(high, left)), mask);
  };
  return {{_mm512_and_si512(w0, mask), join(w0, 52, w1, 12), join(w1, 40, w2, 24), join(w2, 28, w3, 36),
           _mm512_srli_epi64(w3, 16)}};
}

/// The inverse of LoadFr for carried values below 2^256.
[[gnu::always_inline]] inline void StoreFr(const FrWide& v, Fr* p, size_t stride) {
  const __m512i* l = v.limb;
  auto join = [](__m512i low, int right, __m512i high, int left) {
    return _mm512_or_si512(_mm512_srli_epi64(low, right), _mm512_slli_epi64(high, left));
  };
  __m512i w0 = join(l[0], 0, l[1], 52), w1 = join(l[1], 12, l[2], 40);
  __m512i w2 = join(l[2], 24, l[3], 28), w3 = join(l[3], 36, l[4], 16);
  // Lanes 0 and 2, 1 and 3, … side by side, then whole elements.
  const __m512i first = _mm512_setr_epi64(0, 2, 8, 10, 1, 3, 9, 11);
  const __m512i second = _mm512_setr_epi64(4, 6, 12, 14, 5, 7, 13, 15);
  __m512i a02 = _mm512_permutex2var_epi64(w0, first, w2), b02 = _mm512_permutex2var_epi64(w0, second, w2);
  __m512i a13 = _mm512_permutex2var_epi64(w1, first, w3), b13 = _mm512_permutex2var_epi64(w1, second, w3);
  __m512i e[4] = {_mm512_unpacklo_epi64(a02, a13), _mm512_unpackhi_epi64(a02, a13), _mm512_unpacklo_epi64(b02, b13),
                  _mm512_unpackhi_epi64(b02, b13)};
#pragma GCC unroll 4
  for (size_t i = 0; i < 4; ++i) {
    if (stride == 1) {
      _mm512_storeu_si512(p + 2 * i, e[i]);
    } else {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 2 * i * stride), _mm512_castsi512_si256(e[i]));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + (2 * i + 1) * stride), _mm512_extracti64x4_epi64(e[i], 1));
    }
  }
}

/// k r.
template <unsigned k>
inline constexpr Constant52<5> kFrMultiple = Times(FrLaneParams::kModulus52, k);

/// Carried and below r, from a carried value below 2 r.
[[gnu::always_inline]] inline FrWide Reduced(const FrWide& a) { return SubtractOnce(a, kFrMultiple<1>); }

/// 2^306 / r, rounded down.
inline constexpr uint64_t kFrReciprocal = 0x8d54253b7fb78;
static_assert(Times(ToLimbs52<6>(FrParams::kModulus), kFrReciprocal).limb[5] < uint64_t{1} << 46);
static_assert(Times(ToLimbs52<6>(FrParams::kModulus), kFrReciprocal + 1).limb[5] >= uint64_t{1} << 46);

/// Carried and below 2 r, from a value in [0, 2^260).
[[gnu::always_inline]] inline FrWide BelowTwice(const FrWide& a) {
  // The quotient by r from the top limb, at most one too small: a / r = (a / 2^208) (2^306 / r) / 2^98.
  FrWide v = Carried(a);
  const __m512i zero = _mm512_setzero_si512();
  __m512i q = _mm512_srli_epi64(_mm512_madd52hi_epu64(zero, v.limb[4], Broadcast(kFrReciprocal)), 46);
  FrWide product;
#pragma GCC unroll 8
  for (size_t i = 0; i < 5; ++i) {
    product.limb[i] = _mm512_madd52lo_epu64(zero, q, Broadcast(FrLaneParams::kModulus52.limb[i]));
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < 4; ++i) {
    product.limb[i + 1] = _mm512_madd52hi_epu64(product.limb[i + 1], q, Broadcast(FrLaneParams::kModulus52.limb[i]));
  }
  return Carried(Sub(v, product));
}

/// 2^k mod r as limbs.
constexpr Constant52<5> FrPowerOfTwo(unsigned k) {
  FieldConstants<FrParams>::Limbs x = FieldConstants<FrParams>::PowerOfTwo(k);
  return ToLimbs52<5>(x.v);
}
[[gnu::always_inline]] inline FrWide BroadcastFr(const Constant52<5>& c) {
  FrWide r;
#pragma GCC unroll 8
  for (size_t i = 0; i < 5; ++i) r.limb[i] = Broadcast(c.limb[i]);
  return r;
}

/// Eight elements x as x 2^260: carried, in [0, 2 r).
struct FrX8 {
  FrWide wide;

  static FrX8 Zero() { return {BroadcastFr({})}; }
  static FrX8 One() {
    static constexpr Constant52<5> kOne = FrPowerOfTwo(260);
    return {BroadcastFr(kOne)};
  }
  /// p[0], p[stride], … in memory form.
  static FrX8 FromMemory(const Fr* p, size_t stride) {
    static constexpr Constant52<5> kUp = FrPowerOfTwo(260 + 4);
    return {Carried(MontgomeryProduct<FrLaneParams>(LoadFr(p, stride), BroadcastFactor{kUp.limb}))};
  }
  void ToMemory(Fr* p, size_t stride) const {
    static constexpr Constant52<5> kDown = FrPowerOfTwo(256);
    StoreFr(Reduced(Carried(MontgomeryProduct<FrLaneParams>(wide, BroadcastFactor{kDown.limb}))), p, stride);
  }

  friend FrX8 operator+(const FrX8& a, const FrX8& b) {
    return {SubtractOnce(Carried(Add(a.wide, b.wide)), kFrMultiple<2>)};
  }
  friend FrX8 operator-(const FrX8& a, const FrX8& b) {
    return {SubtractOnce(Carried(AddConstant(Sub(a.wide, b.wide), kFrMultiple<2>)), kFrMultiple<2>)};
  }
  friend FrX8 operator*(const FrX8& a, const FrX8& b) {
    return {Carried(MontgomeryProduct<FrLaneParams>(a.wide, LaneFactor<5>{b.wide}))};
  }
  FrX8 operator-() const { return Zero() - *this; }
  FrX8 Double() const { return *this + *this; }
  FrX8 Square() const { return {Carried(MontgomeryReduce<FrLaneParams>(LongSquare(wide)))}; }
};

}  // namespace
}  // namespace cuzk::algebra
