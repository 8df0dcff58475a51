#pragma once
// Eight points at a time with AVX-512 IFMA, as plain functions, so that nothing that other code shares is compiled with
// wide instructions. They may be called only where IsSupported(Arithmetic::kIfma).

#include <cstddef>
#include <cstdint>

#include "core/algebra/curve/curve.h"
#include "core/algebra/field/fp12.h"

namespace cuzk::algebra {

/// Eight points; the lanes read whole registers, a little beyond the last.
template <class F>
struct EightPoints {
  AffinePoint<F> point[8];
  uint64_t beyond[8] = {};
};

/// From canonical coordinates (the value itself in place of Montgomery form) to memory form, in place. Bit i of the
/// result says whether point i satisfies the curve's equation.
template <class F>
uint8_t IfmaImportEight(EightPoints<F>& points);

/// Answers about eight points, a bit each. Where a point ran into a special case of the formulas there is no answer.
struct LaneAnswers {
  uint8_t yes, undecided;
};
/// Whether -m P is `expected`, where m is kMillerX to the power `times`; for finite points of the curve.
template <class F>
LaneAnswers IfmaIsNegatedMultiple(const EightPoints<F>& points, const EightPoints<F>& expected, int times);

/// out = k P for finite points of order r and 0 < k < 2^128, k as two limbs.
void IfmaScalarMulEight(const EightPoints<Fp>& points, const uint64_t (&k)[8][2], JacobianPoint<Fp> (&out)[8]);

/// Miller's loop over `count` pairs of finite points, not conjugated: its value is the product of the eight results.
/// p and q hold whole eights; those beyond `count` must be points but do not count.
void IfmaMillerLoop(const EightPoints<Fp>* p, const EightPoints<Fp2>* q, size_t count, Fp12 (&out)[8]);

}  // namespace cuzk::algebra
