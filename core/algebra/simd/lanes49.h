#pragma once
// Numbers of N limbs of 49 bits, eight at a time: limb i of all eight in two AVX2 registers. For processors without
// AVX-512 IFMA. Everything has internal linkage, as in lanes52.h, whose names mean the same here.
//
// Products are those of the unit for floating point. For whole numbers a and b, |a b| < 2^97, and h a multiple of 2^49
// in [2^101, 2^102), whose doubles are 2^49 apart, h' = fma(a, b, h) adds a b rounded to a multiple of 2^49, and
// fma(a, b, h - h') is exactly what the rounding left out, at most 2^48. So a column of products is two sums of whole
// numbers without any error: four instructions a product, of which two are additions; the high halves are added up
// where they are rounded. The mode of rounding must be to nearest.

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace cuzk::algebra {
namespace {  // NOLINT: see lanes52.h

inline constexpr size_t kLanes = 8;
inline constexpr unsigned kBits49 = 49;
inline constexpr uint64_t kMask49 = (uint64_t{1} << kBits49) - 1;

/// What a column's sums of high and of low halves begin with, so that their doubles are 2^49 and 1 apart, and how these
/// doubles lie in memory: a sum's bits less these are the sum as an integer.
inline constexpr double kHighZero = 0x1.8p101, kLowZero = 0x1.8p52;
inline constexpr uint64_t kHighZeroBits = uint64_t{0x4648} << 48, kLowZeroBits = uint64_t{0x4338} << 48;

/// A 64-bit integer, or a double, for each of the eight lanes.
struct WordX8 {
  __m256i half[2];
};
struct DoubleX8 {
  __m256d half[2];
};

// What follows does the same to both halves.

[[gnu::always_inline]] inline __m256i Broadcast(uint64_t x) { return _mm256_set1_epi64x(static_cast<long long>(x)); }
[[gnu::always_inline]] inline WordX8 operator+(const WordX8& a, const WordX8& b) {
  return {{_mm256_add_epi64(a.half[0], b.half[0]), _mm256_add_epi64(a.half[1], b.half[1])}};
}
[[gnu::always_inline]] inline WordX8 operator-(const WordX8& a, const WordX8& b) {
  return {{_mm256_sub_epi64(a.half[0], b.half[0]), _mm256_sub_epi64(a.half[1], b.half[1])}};
}
[[gnu::always_inline]] inline WordX8 operator|(const WordX8& a, const WordX8& b) {
  return {{_mm256_or_si256(a.half[0], b.half[0]), _mm256_or_si256(a.half[1], b.half[1])}};
}
[[gnu::always_inline]] inline WordX8 operator^(const WordX8& a, const WordX8& b) {
  return {{_mm256_xor_si256(a.half[0], b.half[0]), _mm256_xor_si256(a.half[1], b.half[1])}};
}
[[gnu::always_inline]] inline WordX8 operator+(const WordX8& a, uint64_t b) {
  return a + WordX8{{Broadcast(b), Broadcast(b)}};
}
[[gnu::always_inline]] inline WordX8 operator&(const WordX8& a, uint64_t b) {
  return {{_mm256_and_si256(a.half[0], Broadcast(b)), _mm256_and_si256(a.half[1], Broadcast(b))}};
}
[[gnu::always_inline]] inline WordX8 operator>>(const WordX8& a, int bits) {
  return {{_mm256_srli_epi64(a.half[0], bits), _mm256_srli_epi64(a.half[1], bits)}};
}
[[gnu::always_inline]] inline WordX8 operator<<(const WordX8& a, int bits) {
  return {{_mm256_slli_epi64(a.half[0], bits), _mm256_slli_epi64(a.half[1], bits)}};
}
[[gnu::always_inline]] inline WordX8 Bits(const DoubleX8& a) {
  return {{_mm256_castpd_si256(a.half[0]), _mm256_castpd_si256(a.half[1])}};
}
[[gnu::always_inline]] inline DoubleX8 FromBits(const WordX8& a) {
  return {{_mm256_castsi256_pd(a.half[0]), _mm256_castsi256_pd(a.half[1])}};
}
[[gnu::always_inline]] inline DoubleX8 BroadcastDouble(double x) { return {{_mm256_set1_pd(x), _mm256_set1_pd(x)}}; }
[[gnu::always_inline]] inline DoubleX8 operator+(const DoubleX8& a, const DoubleX8& b) {
  return {{_mm256_add_pd(a.half[0], b.half[0]), _mm256_add_pd(a.half[1], b.half[1])}};
}
[[gnu::always_inline]] inline DoubleX8 operator-(const DoubleX8& a, const DoubleX8& b) {
  return {{_mm256_sub_pd(a.half[0], b.half[0]), _mm256_sub_pd(a.half[1], b.half[1])}};
}
/// a b + c, rounded once.
[[gnu::always_inline]] inline DoubleX8 FusedProduct(const DoubleX8& a, const DoubleX8& b, const DoubleX8& c) {
  return {{_mm256_fmadd_pd(a.half[0], b.half[0], c.half[0]), _mm256_fmadd_pd(a.half[1], b.half[1], c.half[1])}};
}

/// Limbs least significant first: signed words below 2^61 that may exceed 49 bits; the number is their sum with weights
/// 2^(49 i).
template <size_t N>
struct Wide {
  WordX8 limb[N];
};
/// The same, ready to be multiplied: limbs are whole numbers of at most 2^48, with their signs.
template <size_t N>
struct WideFactor {
  DoubleX8 limb[N];
};
/// Compile-time numbers of N limbs of 49 bits, and as factors.
template <size_t N>
struct Constant49 {
  uint64_t limb[N];
};
template <size_t N>
struct ConstantFactor {
  double limb[N];
};

/// The 64-bit words `w` in limbs of 49 bits.
template <size_t N, size_t kWords>
constexpr Constant49<N> ToLimbs49(const uint64_t (&w)[kWords]) {
  Constant49<N> r{};
  for (size_t i = 0; i < N; ++i) {
    size_t bit = kBits49 * i, word = bit / 64, shift = bit % 64;
    uint64_t x = word < kWords ? w[word] >> shift : 0;
    if (shift > 64 - kBits49 && word + 1 < kWords) x |= w[word + 1] << (64 - shift);
    r.limb[i] = i + 1 < N ? x & kMask49 : x;
  }
  return r;
}
/// a, or -a, with limbs of at most 2^48.
template <size_t N>
constexpr ConstantFactor<N> ToFactor(const Constant49<N>& a, bool negate = false) {
  ConstantFactor<N> r{};
  int64_t carry = 0;
  for (size_t i = 0; i < N; ++i) {
    int64_t limb = static_cast<int64_t>(a.limb[i]) + carry;
    carry = i + 1 < N && limb > int64_t{1} << (kBits49 - 1) ? 1 : 0;
    limb -= carry << kBits49;
    r.limb[i] = static_cast<double>(negate ? -limb : limb);
  }
  return r;
}

template <size_t N>
[[gnu::always_inline]] inline Wide<N> Add(const Wide<N>& a, const Wide<N>& b) {
  Wide<N> r;
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) r.limb[i] = a.limb[i] + b.limb[i];
  return r;
}
template <size_t N>
[[gnu::always_inline]] inline Wide<N> Sub(const Wide<N>& a, const Wide<N>& b) {
  Wide<N> r;
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) r.limb[i] = a.limb[i] - b.limb[i];
  return r;
}

/// What is added to a limb before it is cut, so that it is not negative and what is left of it has a sign; of which
/// `kCutCarry` arrives in the carry.
inline constexpr uint64_t kCutBias = (uint64_t{1} << 62) + (uint64_t{1} << 48), kCutCarry = uint64_t{1} << 13;

/// A limb with the bias in it, cut into its lower 49 bits, as a factor's limb, and the carry.
struct CutLimb {
  DoubleX8 limb;
  WordX8 carry;

  [[gnu::always_inline]] explicit CutLimb(const WordX8& biased) : carry(biased >> kBits49) {
    // The bits of 2^52 with a whole number in the lowest ones are that of 2^52 and the number.
    constexpr double kBase = 0x1p52;
    constexpr uint64_t kBaseBits = uint64_t{0x4330} << 48;
    const WordX8 base{{Broadcast(kBaseBits), Broadcast(kBaseBits)}};
    limb = FromBits((biased & kMask49) | base) - BroadcastDouble(kBase + 0x1p48);
  }
};

/// The number as a factor; it must be below 2^(49 N - 1).
template <size_t N>
[[gnu::always_inline]] inline WideFactor<N> ToFactor(const Wide<N>& a) {
  WideFactor<N> r;
  WordX8 carry{};
#pragma GCC unroll 8
  for (size_t i = 0; i + 1 < N; ++i) {
    WordX8 limb = a.limb[i] + (i == 0 ? kCutBias : kCutBias - kCutCarry);
    if (i > 0) limb = limb + carry;
    const CutLimb cut(limb);
    r.limb[i] = cut.limb;
    carry = cut.carry;
  }
  const WordX8 top = a.limb[N - 1] + carry + (kLowZeroBits - kCutCarry);
  r.limb[N - 1] = FromBits(top) - BroadcastDouble(kLowZero);
  return r;
}

/// The sums of the high and of the low halves of up to 8 products.
struct Column {
  DoubleX8 high, low;

  [[gnu::always_inline]] void Put(bool first, const DoubleX8& a, const DoubleX8& b) {
    if (first) {
      high = FusedProduct(a, b, BroadcastDouble(kHighZero));
      low = FusedProduct(a, b, BroadcastDouble(kHighZero + kLowZero) - high);
    } else {
      const DoubleX8 next = FusedProduct(a, b, high);
      low = low + FusedProduct(a, b, high - next);
      high = next;
    }
  }
};

/// A number of 2N limbs, not carried: a product before it is reduced, with the zeros of its sums in it.
template <size_t N>
struct Long {
  WordX8 limb[2 * N];

  /// The zeros of limb i: of its column's low halves and of the high ones of the column below.
  static constexpr uint64_t Zeros(size_t i) { return (i + 1 < 2 * N ? kLowZeroBits : 0) + (i > 0 ? kHighZeroBits : 0); }
  /// Column i, in order, and the high halves of the column below.
  [[gnu::always_inline]] void Take(size_t i, const Column& column, const DoubleX8& high_below) {
    limb[i] = i == 0 ? Bits(column.low) : Bits(column.low) + Bits(high_below);
    if (i + 2 == 2 * N) limb[i + 1] = Bits(column.high);
  }
};

template <size_t N>
[[gnu::always_inline]] inline Long<N> LongProduct(const WideFactor<N>& a, const WideFactor<N>& b) {
  Long<N> t;
  DoubleX8 high{};
#pragma GCC unroll 16
  for (size_t n = 0; n + 1 < 2 * N; ++n) {
    Column column;
    const size_t first = n < N ? 0 : n - N + 1, last = n < N ? n : N - 1;
#pragma GCC unroll 8
    for (size_t i = first; i <= last; ++i) column.Put(i == first, a.limb[i], b.limb[n - i]);
    t.Take(n, column, high);
    high = column.high;
  }
  return t;
}

template <size_t N>
[[gnu::always_inline]] inline Long<N> LongSquare(const WideFactor<N>& a) {
  Long<N> t;
  WideFactor<N> twice;
  DoubleX8 high{};
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) twice.limb[i] = a.limb[i] + a.limb[i];
#pragma GCC unroll 16
  for (size_t n = 0; n + 1 < 2 * N; ++n) {
    Column column;
    const size_t first = n < N ? 0 : n - N + 1;
#pragma GCC unroll 8
    for (size_t i = first; 2 * i <= n; ++i)
      column.Put(i == first, 2 * i < n ? twice.limb[i] : a.limb[i], a.limb[n - i]);
    t.Take(n, column, high);
    high = column.high;
  }
  return t;
}

/// How Montgomery's reduction clears a limb without a multiplication: a multiple k p that is 1 or -1 modulo 2^49. Limb
/// i goes, and limb i times this, (k p + 1) / 2^49 or -(k p - 1) / 2^49, comes to the limbs from i + 1 on.
template <size_t N>
constexpr ConstantFactor<N> LimbFold(const Constant49<N>& p, uint64_t negative_inverse) {
  const uint64_t inverse = (uint64_t{1} << kBits49) - negative_inverse;
  const bool negate = inverse < negative_inverse;
  const unsigned __int128 k = negate ? inverse : negative_inverse;
  Constant49<N> rest{};
  unsigned __int128 carry = (k * p.limb[0] + (negate ? 0 : 1)) >> kBits49;
  for (size_t i = 1; i < N; ++i) {
    carry += k * p.limb[i];
    rest.limb[i - 1] = static_cast<uint64_t>(carry) & kMask49;
    carry >>= kBits49;
  }
  rest.limb[N - 1] = static_cast<uint64_t>(carry);
  return ToFactor(rest, negate);
}

/// The negative inverse of a modulus as a factor's limb.
constexpr double InverseLimb(uint64_t negative_inverse) {
  return static_cast<double>(static_cast<int64_t>(negative_inverse << (64 - kBits49)) >> (64 - kBits49));
}

[[gnu::always_inline]] inline DoubleX8 BroadcastFrom(const double& x) {
  const __m256d all = _mm256_broadcast_sd(&x);
  return {{all, all}};
}

/// (t + m p) / 2^(49 N), where m makes it whole: less than p from t / 2^(49 N). P gives kModulus, kNegInverse and
/// kFold, as factors.
///
/// All limbs but the last are cleared by the fold, whose steps do not wait for a multiplication; the last one by p
/// itself, because a multiple of it would stay in the result.
template <class P, size_t N>
[[gnu::always_inline]] inline Wide<N> MontgomeryReduce(const Long<N>& t) {
  DoubleX8 m[N];
  WordX8 carry{};
  DoubleX8 high{};
#pragma GCC unroll 8
  for (size_t n = 0; n < N; ++n) {
    WordX8 limb = t.limb[n];
    uint64_t zeros = Long<N>::Zeros(n);
    if (n > 0) {
      Column column;
#pragma GCC unroll 8
      for (size_t i = 0; i < n; ++i) column.Put(i == 0, m[i], BroadcastFrom(P::kFold.limb[n - 1 - i]));
      limb = limb + carry;
      if (n > 1) limb = limb + Bits(high);
      zeros += kCutCarry + kLowZeroBits + (n > 1 ? kHighZeroBits : 0);
      limb = limb + (kCutBias - zeros) + Bits(column.low);
      high = column.high;
    } else {
      limb = limb + (kCutBias - zeros);
    }
    const CutLimb cut(limb);
    m[n] = cut.limb;
    carry = cut.carry;
  }
  const DoubleX8 x = m[N - 1], q = BroadcastFrom(P::kNegInverse), zero = BroadcastDouble(kHighZero);
  m[N - 1] = FusedProduct(x, q, zero - FusedProduct(x, q, zero));
  // A multiple of 2^49, and so without an error.
  const DoubleX8 whole = FusedProduct(m[N - 1], BroadcastFrom(P::kModulus.limb[0]), x);
  carry = carry + Bits(whole + zero);
  Wide<N> r;
#pragma GCC unroll 8
  for (size_t n = N; n < 2 * N; ++n) {
    WordX8 limb = t.limb[n] + Bits(high);
    uint64_t zeros = Long<N>::Zeros(n) + kHighZeroBits;
    if (n + 1 < 2 * N) {
      Column column;
#pragma GCC unroll 8
      for (size_t i = n - N; i + 1 < N; ++i) column.Put(i == n - N, m[i], BroadcastFrom(P::kFold.limb[n - 1 - i]));
      column.Put(n - N + 1 == N, m[N - 1], BroadcastFrom(P::kModulus.limb[n - N + 1]));
      limb = limb + Bits(column.low);
      zeros += kLowZeroBits;
      high = column.high;
    }
    if (n == N) {
      limb = limb + carry;
      zeros += kCutCarry + kHighZeroBits;
    }
    r.limb[n - N] = limb + (0 - zeros);
  }
  return r;
}

}  // namespace
}  // namespace cuzk::algebra
