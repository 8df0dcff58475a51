#pragma once
// Products without reduction, and the reduction of what has been made of them: where several products are added up
// before one reduction, half of the multiply-adds of every further product are saved.

#include "gpu/field/device_field.cuh"

namespace cuzk::gpu::detail {

/// r = a b, 2 N words. Products of words whose indices add up to an even number go to one accumulator, the others to a
/// second one a word higher; rows come in the order of b's words, so that the highest word of a chain is touched for
/// the first time by one row.
template <int N>
CUZK_DEVICE void WideProduct(const uint32_t (&a)[N], const uint32_t (&b)[N], uint32_t (&r)[2 * N]) {
  uint32_t e[2 * N], o[2 * N];  // e[k] holds column k, o[k] column k + 1
#pragma unroll
  for (int j = 0; j < N; j += 2) {
    MulWide(e[j], e[j + 1], a[j], b[0]);
    MulWide(o[j], o[j + 1], a[j + 1], b[0]);
  }
#pragma unroll
  for (int i = 1; i < N; ++i) {
#pragma unroll
    for (int parity = 0; parity < 2; ++parity) {  // of i + j
      uint32_t(&c)[2 * N] = parity == 0 ? e : o;
      const int first = (i + parity) % 2;
      const bool full = (N - 1 + i) % 2 == parity;  // reaches a[N - 1], whose upper word is new
#pragma unroll
      for (int j = first; j < N; j += 2) {
        const int k = i + j - parity;
        const bool fresh = j == N - 1;
        uint32_t low = fresh && i == 1 ? 0 : c[k], high = fresh ? 0 : c[k + 1];
        if (j == first) {
          MadWideCc(c[k], c[k + 1], a[j], b[i], low, high);
        } else {
          MadcWideCc(c[k], c[k + 1], a[j], b[i], low, high);
        }
      }
      if (!full) c[i + N - parity] = Addc(0, 0);
    }
  }
  r[0] = e[0];
  r[1] = AddCc(e[1], o[0]);
#pragma unroll
  for (int k = 2; k < 2 * N - 1; ++k) r[k] = AddcCc(e[k], o[k - 1]);
  r[2 * N - 1] = Addc(e[2 * N - 1], o[2 * N - 2]);
}

/// One row of a reduction without a product: clears e[0] after adding the word that o left below it, and moves o down
/// by two words.
template <class Params, int N>
CUZK_DEVICE void ShiftingReductionRow(uint32_t (&e)[N], uint32_t (&o)[N], const uint32_t (&p)[N]) {
  e[0] = AddCc(e[0], o[1]);
  uint32_t m = e[0] * Words32<Params>::kNegInverse;
#pragma unroll
  for (int j = 0; j < N - 2; j += 2) MadcWideCc(o[j], o[j + 1], m, p[j + 1], o[j + 2], o[j + 3]);
  MadcWideCc(o[N - 2], o[N - 1], m, p[N - 1], 0, 0);
  MadWideCc(e[0], e[1], m, p[0], e[0], e[1]);
#pragma unroll
  for (int j = 2; j < N; j += 2) MadcWideCc(e[j], e[j + 1], m, p[j], e[j], e[j + 1]);
  o[N - 1] = Addc(o[N - 1], 0);
}

/// r = t / 2^(32 N) mod p, not below p but below p + t / 2^(32 N), which the caller knows to be below 2^(32 N).
template <class Params, int N>
CUZK_DEVICE void ReduceWide(const uint32_t (&t)[2 * N], uint32_t (&r)[N]) {
  uint32_t p[N], x[N], y[N];
  Words32<Params>::Modulus(p);
#pragma unroll
  for (int i = 0; i < N; ++i) x[i] = t[i];
  uint32_t m = x[0] * Words32<Params>::kNegInverse;
#pragma unroll
  for (int j = 0; j < N; j += 2) MulWide(y[j], y[j + 1], m, p[j + 1]);
  MadWideCc(x[0], x[1], m, p[0], x[0], x[1]);
#pragma unroll
  for (int j = 2; j < N; j += 2) MadcWideCc(x[j], x[j + 1], m, p[j], x[j], x[j + 1]);
  y[N - 1] = Addc(y[N - 1], 0);
#pragma unroll
  for (int i = 1; i < N; i += 2) {
    ShiftingReductionRow<Params>(y, x, p);
    if (i + 1 < N) ShiftingReductionRow<Params>(x, y, p);
  }
  // N is even: y is the lower accumulator and its word 0 is clear.
  x[0] = AddCc(x[0], y[1]);
#pragma unroll
  for (int j = 1; j < N - 1; ++j) x[j] = AddcCc(x[j], y[j + 1]);
  x[N - 1] = Addc(x[N - 1], 0);
  r[0] = AddCc(x[0], t[N]);
#pragma unroll
  for (int j = 1; j < N - 1; ++j) r[j] = AddcCc(x[j], t[N + j]);
  r[N - 1] = Addc(x[N - 1], t[2 * N - 1]);
}

}  // namespace cuzk::gpu::detail
