#pragma once
// One operation of device arithmetic on every element of two arrays, for the tests.

#include <vector>

#include "core/algebra/curve/curve.h"
#include "core/base/status.h"

namespace cuzk::gpu::testing {

/// kKnownFactor: a b^2 by products with b as a known factor, Fr only. kOwnSquare: (a b)^2 by a lazy product and the
/// square of its own, Fp and Fp2.
enum class FieldOp { kAdd, kSub, kMul, kSquare, kNegate, kDouble, kInverse, kKnownFactor, kOwnSquare };

/// Element i of the answer is op(a[i], b[i]). Inverse is offered for Fp and Fp2.
template <class F>
StatusOr<std::vector<F>> Apply(FieldOp op, const std::vector<F>& a, const std::vector<F>& b);

enum class PointOp { kAddMixed, kAdd };
/// a[i] + b[i] through XYZZ sums, back in affine form; kAdd lifts both sides with a Z that is not one.
template <class F>
StatusOr<std::vector<algebra::AffinePoint<F>>> Apply(PointOp op, const std::vector<algebra::AffinePoint<F>>& a,
                                                     const std::vector<algebra::AffinePoint<F>>& b);

/// Products a second when every thread multiplies `repeats` times.
template <class F>
StatusOr<double> ProductsPerSecond(int repeats);

}  // namespace cuzk::gpu::testing
