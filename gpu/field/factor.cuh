#pragma once
// Products in Fr with factors that are known beforehand (roots of unity, powers, 1/n): a factor w is kept as an integer
// beside q = floor(w 2^256 / r), and x w mod r is x w - floor(x q / 2^256) r, of which only the low 256 bits are
// computed (V. Shoup; D. Harvey, "Faster arithmetic for number-theoretic transforms", 2014). Of the quotient's product
// the columns below 2^192 are left out, of the other two the columns from 2^256 up: 86 multiply-adds and 14 low
// products, where Montgomery's product takes 112, and no chain through all of them.
//
// Range: x below 2r. The columns left out are worth less than 2^-29 of a unit of the quotient and flooring less than
// one, so that x w / r - quotient is in [0, 2r / 2^256 + 1 + 2^-29): the result is below 2r.
//
// Montgomery form: w is the plain integer, x and the product are both in Montgomery form.

#include "gpu/field/device_field.cuh"

namespace cuzk::gpu {

struct alignas(16) FrFactor {
  FrD value;     ///< the integer w, not in Montgomery form
  FrD quotient;  ///< floor(w 2^256 / r)
};
static_assert(sizeof(FrFactor) == 64);

namespace detail {

/// The quotient: bits 256 and up of the columns from 6 up of x q. e[k] holds column 6 + k, o[k] column 7 + k; the rows
/// come in the order of x's words, so that the highest word of a chain is touched for the first time by one row.
CUZK_DEVICE void QuotientOf(const uint32_t (&x)[8], const uint32_t (&q)[8], uint32_t (&quotient)[8]) {
  uint32_t e[10], o[10];
  MulWide(e[0], e[1], x[0], q[6]);
  MulWide(o[0], o[1], x[0], q[7]);
#pragma unroll
  for (int i = 1; i < 8; ++i) {
    int lowest = i == 7 ? 8 : 6;
#pragma unroll
    for (int column = lowest; column <= 14; column += 2) {
      int j = column - i, k = column - 6;
      if (j < 0 || j > 7) continue;
      uint32_t low = i == 1 && j == 7 ? 0 : e[k], high = i % 2 == 1 && j == 7 ? 0 : e[k + 1];
      if (column == lowest) {
        MadWideCc(e[k], e[k + 1], x[i], q[j], low, high);
      } else {
        MadcWideCc(e[k], e[k + 1], x[i], q[j], low, high);
      }
    }
    if (i % 2 == 0) e[i + 2] = Addc(0, 0);
#pragma unroll
    for (int column = 7; column <= 13; column += 2) {
      int j = column - i, k = column - 7;
      if (j < 0 || j > 7) continue;
      uint32_t high = i % 2 == 0 && j == 7 ? 0 : o[k + 1];
      if (column == 7) {
        MadWideCc(o[k], o[k + 1], x[i], q[j], o[k], high);
      } else {
        MadcWideCc(o[k], o[k + 1], x[i], q[j], o[k], high);
      }
    }
    if (i % 2 == 1) o[i + 1] = Addc(0, 0);
  }
  AddCc(e[1], o[0]);
#pragma unroll
  for (int k = 0; k < 7; ++k) quotient[k] = AddcCc(e[k + 2], o[k + 1]);
  quotient[7] = Addc(e[9], o[8]);
}

/// Adds the part below column 7 of a x_i 2^(32 i) to the columns; even columns in e, odd ones in o (o[k]: column k +
/// 1), column 7 in o[6] by itself. Words of a below `first` are zero.
template <int kFirst>
CUZK_DEVICE void LowRow(uint32_t (&e)[8], uint32_t (&o)[7], uint32_t x, const uint32_t (&a)[8], int i) {
  bool inside = false;
#pragma unroll
  for (int column = 0; column <= 6; column += 2) {
    int j = column - i;
    if (j < kFirst) continue;
    if (inside) {
      MadcWideCc(e[column], e[column + 1], x, a[j], e[column], e[column + 1]);
    } else {
      MadWideCc(e[column], e[column + 1], x, a[j], e[column], e[column + 1]);
    }
    inside = true;
  }
  inside = false;
#pragma unroll
  for (int column = 1; column <= 5; column += 2) {
    int j = column - i;
    if (j < kFirst) continue;
    if (inside) {
      MadcWideCc(o[column - 1], o[column], x, a[j], o[column - 1], o[column]);
    } else {
      MadWideCc(o[column - 1], o[column], x, a[j], o[column - 1], o[column]);
    }
    inside = true;
  }
  if (inside) o[6] = Addc(o[6], 0);
  o[6] = MadLow(x, a[7 - i], o[6]);
}

/// x w - quotient r mod 2^256. -r is 2^32 - 1 + 2^64 times six words, the complements of r's: the quotient enters the
/// odd columns at their start, shifted by a word, and is subtracted at the end.
CUZK_DEVICE void RemainderOf(const uint32_t (&x)[8], const uint32_t (&w)[8], const uint32_t (&quotient)[8],
                             uint32_t (&r)[8]) {
  constexpr Words<8> kModulus = Split<8>(algebra::FrParams::kModulus);
  uint32_t minus_r[8], e[8], o[7];
#pragma unroll
  for (int i = 0; i < 8; ++i) minus_r[i] = ~kModulus.v[i];
#pragma unroll
  for (int i = 0; i < 8; i += 2) MulWide(e[i], e[i + 1], x[0], w[i]);
  MadWideCc(o[0], o[1], x[0], w[1], quotient[0], quotient[1]);
  MadcWideCc(o[2], o[3], x[0], w[3], quotient[2], quotient[3]);
  MadcWideCc(o[4], o[5], x[0], w[5], quotient[4], quotient[5]);
  o[6] = MadLow(x[0], w[7], Addc(quotient[6], 0));
#pragma unroll
  for (int i = 1; i < 8; ++i) LowRow<0>(e, o, x[i], w, i);
#pragma unroll
  for (int i = 0; i < 6; ++i) LowRow<2>(e, o, quotient[i], minus_r, i);
  e[1] = AddCc(e[1], o[0]);
#pragma unroll
  for (int k = 2; k < 7; ++k) e[k] = AddcCc(e[k], o[k - 1]);
  e[7] = Addc(e[7], o[6]);
  r[0] = SubCc(e[0], quotient[0]);
#pragma unroll
  for (int k = 1; k < 7; ++k) r[k] = SubcCc(e[k], quotient[k]);
  r[7] = Subc(e[7], quotient[7]);
}

}  // namespace detail

/// x w, below 2r, for x below 2r.
CUZK_DEVICE FrD TimesFactor(const FrD& x, const FrFactor& w) {
  uint32_t quotient[8];
  detail::QuotientOf(x.w, w.quotient.w, quotient);
  FrD r;
  detail::RemainderOf(x.w, w.value.w, quotient, r.w);
  return r;
}

/// The factor of a canonical element in Montgomery form, m = w 2^256 mod r. As w 2^256 = q r + m, the words of q are
/// the multiples of r that Montgomery's reduction of m adds, and w is what it leaves.
CUZK_HD inline FrFactor MakeFactor(const FrD& m) {
  constexpr detail::Words<8> kModulus = detail::Split<8>(algebra::FrParams::kModulus);
  FrFactor f;
  f.value = m;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    uint32_t multiple = 0 - f.value.w[0];  // -1/r = -1 mod 2^32
    f.quotient.w[i] = multiple;
    uint64_t carry = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      carry += static_cast<uint64_t>(multiple) * kModulus.v[j] + f.value.w[j];
      if (j > 0) f.value.w[j - 1] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    f.value.w[7] = static_cast<uint32_t>(carry);
  }
  return f;
}

}  // namespace cuzk::gpu
