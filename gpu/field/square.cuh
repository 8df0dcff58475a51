#pragma once
// A square of its own for Fp: products of two different words once, doubled, then the squares of the words; the lower
// half reduced row by row, the upper half added. N(N-1)/2 + N + N^2 multiply-adds instead of 2 N^2.

#include "gpu/field/wide.cuh"

namespace cuzk::gpu::detail {

/// sum of a_i a_j 2^(32 (i + j)) over i < j. e[k] holds column k, o[k] column k + 1, both in pairs of words; rows come
/// in the order of i, so that the highest word of a chain is touched for the first time by one row. e[0], e[1] are not
/// set.
template <int N>
CUZK_DEVICE void MixedProducts(const uint32_t (&a)[N], uint32_t (&e)[2 * N], uint32_t (&o)[2 * N]) {
#pragma unroll
  for (int j = 2; j < N; j += 2) MulWide(e[j], e[j + 1], a[0], a[j]);
#pragma unroll
  for (int j = 1; j < N; j += 2) MulWide(o[j - 1], o[j], a[0], a[j]);
#pragma unroll
  for (int i = 1; i < N - 1; ++i) {
#pragma unroll
    for (int parity = 0; parity < 2; ++parity) {  // of i + j
      uint32_t(&c)[2 * N] = parity == 0 ? e : o;
      int first = i + 1 + (1 - parity);
      bool full = (N - 1 + i) % 2 == parity;  // reaches a[N - 1], whose upper word is new
#pragma unroll
      for (int j = first; j < N; j += 2) {
        int k = i + j - parity;
        bool fresh = j == N - 1;
        uint32_t low = fresh && i == 1 ? 0 : c[k], high = fresh ? 0 : c[k + 1];
        if (j == first) {
          MadWideCc(c[k], c[k + 1], a[i], a[j], low, high);
        } else {
          MadcWideCc(c[k], c[k + 1], a[i], a[j], low, high);
        }
      }
      if (!full && first < N) c[i + N - parity] = Addc(0, 0);
    }
  }
}

/// r = a^2 / 2^(32 N) mod p, not below p but below p + a^2 / 2^(32 N).
template <class Params, int N>
CUZK_DEVICE void MontSquareLazy(const uint32_t (&a)[N], uint32_t (&r)[N]) {
  uint32_t e[2 * N], o[2 * N];
  MixedProducts(a, e, o);
  // Columns 1 to 2 N - 2 of the sum into e, then twice that; e[2 N - 1] is its last word.
  e[1] = o[0];
  e[2] = AddCc(e[2], o[1]);
#pragma unroll
  for (int k = 3; k < 2 * N - 2; ++k) e[k] = AddcCc(e[k], o[k - 1]);
  e[2 * N - 2] = Addc(o[2 * N - 3], 0);
  e[2 * N - 1] = e[2 * N - 2] >> 31;
#pragma unroll
  for (int k = 2 * N - 2; k > 1; --k) e[k] = __funnelshift_l(e[k - 1], e[k], 1);
  e[1] <<= 1;
  MadWideCc(e[0], e[1], a[0], a[0], 0, e[1]);
#pragma unroll
  for (int i = 1; i < N; ++i) MadcWideCc(e[2 * i], e[2 * i + 1], a[i], a[i], e[2 * i], e[2 * i + 1]);
  ReduceWide<Params>(e, r);
}

}  // namespace cuzk::gpu::detail
