#pragma once
// Numbers of N limbs of 52 bits, eight at a time: limb i of all eight in one AVX-512 register. Only for translation
// units that are compiled for AVX-512 IFMA. Everything here and in the headers built on it has internal linkage on
// purpose: the linker must never use a copy compiled for wide instructions in place of one that is not.

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#if !defined(__AVX512IFMA__) || !defined(__AVX512DQ__) || !defined(__AVX512VL__) || !defined(__AVX512BW__)
#error "lanes52.h needs the flags of AVX-512 IFMA"
#endif

namespace cuzk::algebra {
namespace {  // NOLINT: see above

inline constexpr size_t kLanes = 8;
inline constexpr uint64_t kMask52 = (uint64_t{1} << 52) - 1;

/// Limbs least significant first. Between multiplications limbs are signed words that may exceed 52 bits; the number
/// is their sum with weights 2^(52 i).
template <size_t N>
struct Wide {
  __m512i limb[N];
};

/// Compile-time numbers of N limbs of 52 bits.
template <size_t N>
struct Constant52 {
  uint64_t limb[N];
};

/// The 64-bit words `w` in limbs of 52 bits.
template <size_t N, size_t kWords>
constexpr Constant52<N> ToLimbs52(const uint64_t (&w)[kWords]) {
  Constant52<N> r{};
  for (size_t i = 0; i < N; ++i) {
    size_t bit = 52 * i, word = bit / 64, shift = bit % 64;
    uint64_t x = word < kWords ? w[word] >> shift : 0;
    if (shift > 12 && word + 1 < kWords) x |= w[word + 1] << (64 - shift);
    r.limb[i] = i + 1 < N ? x & kMask52 : x;
  }
  return r;
}
/// k times a number, limbs below 2^52 but the last.
template <size_t N>
constexpr Constant52<N> Times(const Constant52<N>& a, uint64_t k) {
  Constant52<N> r{};
  unsigned __int128 carry = 0;
  for (size_t i = 0; i < N; ++i) {
    carry += static_cast<unsigned __int128>(a.limb[i]) * k;
    r.limb[i] = static_cast<uint64_t>(i + 1 < N ? carry & kMask52 : carry);
    carry >>= 52;
  }
  return r;
}

[[gnu::always_inline]] inline __m512i Broadcast(uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }
/// The same from memory, which takes a load where an immediate takes the unit that multiplies.
[[gnu::always_inline]] inline __m512i BroadcastFrom(const uint64_t* x) {
  asm("" : "+r"(x));
  return _mm512_set1_epi64(static_cast<long long>(*x));
}

template <size_t N>
[[gnu::always_inline]] inline Wide<N> Add(const Wide<N>& a, const Wide<N>& b) {
  Wide<N> r;
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) r.limb[i] = _mm512_add_epi64(a.limb[i], b.limb[i]);
  return r;
}
template <size_t N>
[[gnu::always_inline]] inline Wide<N> Sub(const Wide<N>& a, const Wide<N>& b) {
  Wide<N> r;
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) r.limb[i] = _mm512_sub_epi64(a.limb[i], b.limb[i]);
  return r;
}
template <size_t N>
[[gnu::always_inline]] inline Wide<N> AddConstant(const Wide<N>& a, const Constant52<N>& c) {
  Wide<N> r;
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) r.limb[i] = _mm512_add_epi64(a.limb[i], Broadcast(c.limb[i]));
  return r;
}
template <size_t N>
[[gnu::always_inline]] inline Wide<N> SubConstant(const Wide<N>& a, const Constant52<N>& c) {
  Wide<N> r;
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) r.limb[i] = _mm512_sub_epi64(a.limb[i], Broadcast(c.limb[i]));
  return r;
}

/// The same number with limbs in [0, 2^52); the last limb keeps what is left, with its sign.
template <size_t N>
[[gnu::always_inline]] inline Wide<N> Carried(Wide<N> a) {
  const __m512i mask = Broadcast(kMask52);
#pragma GCC unroll 8
  for (size_t i = 0; i + 1 < N; ++i) {
    a.limb[i + 1] = _mm512_add_epi64(a.limb[i + 1], _mm512_srai_epi64(a.limb[i], 52));
    a.limb[i] = _mm512_and_si512(a.limb[i], mask);
  }
  return a;
}

/// a if a < c, else a - c, lane by lane. a is carried and not negative; so is the result.
template <size_t N>
[[gnu::always_inline]] inline Wide<N> SubtractOnce(const Wide<N>& a, const Constant52<N>& c) {
  Wide<N> d = Carried(SubConstant(a, c));
  __mmask8 negative = _mm512_movepi64_mask(d.limb[N - 1]);
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) d.limb[i] = _mm512_mask_mov_epi64(d.limb[i], negative, a.limb[i]);
  return d;
}

/// A number of 2N limbs, not carried: a product before it is reduced.
template <size_t N>
struct Long {
  __m512i limb[2 * N];
};

/// a^2. `a` is carried and not negative. Limbs of the result are below 2^58.
template <size_t N>
[[gnu::always_inline]] inline Long<N> LongSquare(const Wide<N>& a) {
  Long<N> t;
#pragma GCC unroll 16
  for (size_t i = 0; i < 2 * N; ++i) t.limb[i] = _mm512_setzero_si512();
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) {
#pragma GCC unroll 8
    for (size_t j = i + 1; j < N; ++j) {
      t.limb[i + j] = _mm512_madd52lo_epu64(t.limb[i + j], a.limb[i], a.limb[j]);
      t.limb[i + j + 1] = _mm512_madd52hi_epu64(t.limb[i + j + 1], a.limb[i], a.limb[j]);
    }
  }
#pragma GCC unroll 16
  for (size_t i = 1; i < 2 * N; ++i) t.limb[i] = _mm512_add_epi64(t.limb[i], t.limb[i]);
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) {
    t.limb[2 * i] = _mm512_madd52lo_epu64(t.limb[2 * i], a.limb[i], a.limb[i]);
    t.limb[2 * i + 1] = _mm512_madd52hi_epu64(t.limb[2 * i + 1], a.limb[i], a.limb[i]);
  }
  return t;
}

/// a b. `a` is carried and not negative; b gives its limbs by Limb(i), in [0, 2^52). Limbs of the result are below
/// 2^57.
///
/// A product is completed before it is reduced: its instructions do not wait for each other, so that they fill the gaps
/// of the reduction before it, which is one long chain.
template <size_t N, class Factor>
[[gnu::always_inline]] inline Long<N> LongProduct(const Wide<N>& a, const Factor& b) {
  Long<N> t;
#pragma GCC unroll 16
  for (size_t i = 0; i < 2 * N; ++i) t.limb[i] = _mm512_setzero_si512();
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) {
    __m512i bi = b.Limb(i);
#pragma GCC unroll 8
    for (size_t j = 0; j < N; ++j) t.limb[i + j] = _mm512_madd52lo_epu64(t.limb[i + j], a.limb[j], bi);
#pragma GCC unroll 8
    for (size_t j = 0; j < N; ++j) t.limb[i + j + 1] = _mm512_madd52hi_epu64(t.limb[i + j + 1], a.limb[j], bi);
  }
  return t;
}

/// How Montgomery's reduction clears a limb without a multiplication: a multiple k p that is 1 or -1 modulo 2^52, of
/// which this is (k p - 1) / 2^52 or (k p + 1) / 2^52.
template <size_t N>
struct LimbFold {
  Constant52<N> rest;
  bool negate;  // k p is 1, so that the limb's negative is the factor

  /// k = 1/p or -1/p modulo 2^52, whichever is less, because the result grows by k p / 2^52.
  static constexpr LimbFold Of(const Constant52<N>& p, uint64_t negative_inverse) {
    const uint64_t inverse = (uint64_t{1} << 52) - negative_inverse;
    const bool negate = inverse < negative_inverse;
    const unsigned __int128 k = negate ? inverse : negative_inverse;
    LimbFold fold{{}, negate};
    unsigned __int128 carry = (k * p.limb[0] + (negate ? 0 : 1)) >> 52;
    for (size_t i = 1; i < N; ++i) {
      carry += k * p.limb[i];
      fold.rest.limb[i - 1] = static_cast<uint64_t>(carry) & kMask52;
      carry >>= 52;
    }
    fold.rest.limb[N - 1] = static_cast<uint64_t>(carry);
    return fold;
  }
};

/// (t + m p) / 2^(52 N), where m makes it whole: below t / 2^(52 N) + p + k p / 2^52 with the k of P::kFold. t is not
/// negative, though its limbs may be. P gives kModulus52, kNegInverse52 and kFold.
///
/// All limbs but the last are cleared by the fold, whose steps wait for each other a third as long as those that find m
/// by a multiplication; the last one by p itself, because a multiple of it would stay in the result.
template <class P, size_t N>
[[gnu::always_inline]] inline Wide<N> MontgomeryReduce(Long<N> t) {
  constexpr bool kNegate = P::kFold.negate;
  const __m512i zero = _mm512_setzero_si512();
  __m512i rest[N], p[N];
#pragma GCC unroll 8
  for (size_t j = 0; j < N; ++j) rest[j] = BroadcastFrom(&P::kFold.rest.limb[j]);
#pragma GCC unroll 8
  for (size_t i = 0; i + 1 < N; ++i) {
    // Products use the low 52 bits of a factor. A limb and its complement to 2^52 round up, without it down.
    const __m512i m = kNegate ? _mm512_sub_epi64(zero, t.limb[i]) : t.limb[i];
    const __m512i carry = _mm512_srai_epi64(kNegate ? _mm512_add_epi64(t.limb[i], Broadcast(kMask52)) : t.limb[i], 52);
#pragma GCC unroll 8
    for (size_t j = 0; j < N; ++j) {
      t.limb[i + 1 + j] = _mm512_madd52lo_epu64(t.limb[i + 1 + j], m, rest[j]);
    }
    t.limb[i + 1] = _mm512_add_epi64(t.limb[i + 1], carry);
#pragma GCC unroll 8
    for (size_t j = 0; j < N; ++j) {
      t.limb[i + 2 + j] = _mm512_madd52hi_epu64(t.limb[i + 2 + j], m, rest[j]);
    }
  }
  const __m512i m = _mm512_madd52lo_epu64(zero, t.limb[N - 1], BroadcastFrom(&P::kNegInverse52));
#pragma GCC unroll 8
  for (size_t j = 0; j < N; ++j) p[j] = BroadcastFrom(&P::kModulus52.limb[j]);
#pragma GCC unroll 8
  for (size_t j = 0; j < N; ++j) t.limb[N - 1 + j] = _mm512_madd52lo_epu64(t.limb[N - 1 + j], m, p[j]);
#pragma GCC unroll 8
  for (size_t j = 0; j < N; ++j) t.limb[N + j] = _mm512_madd52hi_epu64(t.limb[N + j], m, p[j]);
  t.limb[N] = _mm512_add_epi64(t.limb[N], _mm512_srai_epi64(t.limb[N - 1], 52));
  Wide<N> r;
#pragma GCC unroll 8
  for (size_t i = 0; i < N; ++i) r.limb[i] = t.limb[N + i];
  return r;
}

/// Montgomery's product: below a b / 2^(52 N) and what MontgomeryReduce adds, limbs below 2^58.
template <class P, size_t N, class Factor>
[[gnu::always_inline]] inline Wide<N> MontgomeryProduct(const Wide<N>& a, const Factor& b) {
  return MontgomeryReduce<P>(LongProduct(a, b));
}

/// A factor that is the same in all lanes.
struct BroadcastFactor {
  const uint64_t* limb;
  __m512i Limb(size_t i) const { return Broadcast(limb[i]); }
};
/// A factor by lanes, carried and not negative.
template <size_t N>
struct LaneFactor {
  const Wide<N>& wide;
  __m512i Limb(size_t i) const { return wide.limb[i]; }
};

}  // namespace
}  // namespace cuzk::algebra
