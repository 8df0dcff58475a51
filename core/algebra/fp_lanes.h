#pragma once
// Eight elements of Fp at a time, in eight limbs of 52 bits, and of Fp2 by its template. See lanes52.h for who may
// include this.
//
// 2^416 is 2^35 times the modulus p, so nothing between two products is ever reduced: a value is any representative in
// (-2^15 p, 2^15 p), its limbs are signed words. A product adds 2^16 p to each factor, which makes it positive, carries, and
// is below 1.3 p. Sums of up to thousands of products therefore need no care.
//
// Products divide by 2^416 where the memory form of Fp holds x 2^384. An element read as it lies in memory is 2^-32 times
// the element there; formulas that are homogeneous do not mind (batch_add_ifma.cc), others convert.

#include <bit>

#include "core/algebra/curve_points.h"
#include "core/algebra/lanes52.h"

namespace cuzk::algebra {
namespace {  // NOLINT: see lanes52.h

struct FpLaneParams {
  static constexpr Constant52<8> kModulus52 = ToLimbs52<8>(FpParams::kModulus);
  static constexpr uint64_t kNegInverse52 = Fp::Constants::kNegInverse & kMask52;
};
/// k p.
template <uint64_t k>
inline constexpr Constant52<8> kFpMultiple = Times(FpLaneParams::kModulus52, k);

using FpWide = Wide<8>;

/// Which of the eight lanes; bit i is lane i.
using LaneMask = __mmask8;
inline constexpr LaneMask kAllLanes = 0xff;

/// Six words of eight elements, word by word, from eight addresses whose 64 bytes from `kSkip` words before the
/// element's first word may all be read.
template <size_t kSkip>
[[gnu::always_inline]] inline void GatherWords(const uint64_t* const (&p)[8], __m512i (&w)[6]) {
  __m512i e[8];
#pragma GCC unroll 8
  for (size_t i = 0; i < 8; ++i) e[i] = _mm512_loadu_si512(p[i] - kSkip);
  // Even and odd words of lanes (0, 2), (1, 3), (4, 6), (5, 7): a transposition in 128-bit pieces.
  __m512i even[4], odd[4];
  constexpr size_t kPair[4][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}};
#pragma GCC unroll 4
  for (size_t i = 0; i < 4; ++i) {
    even[i] = _mm512_unpacklo_epi64(e[kPair[i][0]], e[kPair[i][1]]);
    odd[i] = _mm512_unpackhi_epi64(e[kPair[i][0]], e[kPair[i][1]]);
  }
#pragma GCC unroll 3
  for (size_t k = 0; k < 3; ++k) {
    // Piece k + kSkip / 2 of all four pairs.
    const long long piece = 2 * (k + kSkip / 2);
    const __m512i take = _mm512_setr_epi64(piece, piece + 1, piece + 8, piece + 9, 0, 0, 0, 0);
    auto four = [&](const __m512i(&x)[4]) {
      __m512i low = _mm512_permutex2var_epi64(x[0], take, x[1]);
      __m512i high = _mm512_permutex2var_epi64(x[2], take, x[3]);
      return _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1);
    };
    w[2 * k] = four(even);
    w[2 * k + 1] = four(odd);
  }
}

/// The inverse of GatherWords: writes 48 bytes to each address.
[[gnu::always_inline]] inline void ScatterWords(const __m512i (&w)[6], uint64_t* const (&p)[8]) {
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
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(p[lane]), four);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p[lane] + 4), two);
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
  return {{_mm512_and_si512(w[0], mask), join(0, 52, 12), join(1, 40, 24), join(2, 28, 36),
           _mm512_and_si512(_mm512_srli_epi64(w[3], 16), mask), join(3, 68, 0), join(4, 56, 8), _mm512_srli_epi64(w[5], 44)}};
}

}  // namespace
}  // namespace cuzk::algebra
