#pragma once
// Eight elements of Fp2 at a time, over the FpX8 of the file that ends with this one: fp_lanes.h or fp_lanes_fma.h.

namespace cuzk::algebra {
namespace {  // NOLINT: see lanes52.h

using Fp2X8 = Fp2Of<FpX8>;

/// Eight elements of Fp2 ready to be multiplied by Karatsuba's formula.
struct Fp2X8Factor {
  FpX8Factor c0, c1, sum;

  Fp2X8 Value() const { return {c0.Value(), c1.Value()}; }
};
[[gnu::always_inline]] inline Fp2X8Factor AsFactor(const Fp2X8& a) {
  FpX8Factor c0 = a.c0.AsFactor(), c1 = a.c1.AsFactor();
  return {c0, c1, SumAsFactor(a.c0, a.c1, c0, c1)};
}
[[gnu::always_inline]] inline Fp2X8 operator*(const Fp2X8Factor& a, const Fp2X8Factor& b) {
  FpX8 low = a.c0 * b.c0, high = a.c1 * b.c1, cross = a.sum * b.sum;
  return {low - high, cross - low - high};
}
[[gnu::always_inline]] inline Fp2X8 Square(const Fp2X8Factor& a) {
  FpX8 cross = a.c0 * a.c1;
  return {a.sum * DifferenceAsFactor(a.c0, a.c1), cross.Double()};
}

}  // namespace
}  // namespace cuzk::algebra
