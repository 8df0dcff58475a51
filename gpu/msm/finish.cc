// What the host does of a multi-exponentiation: it estimates its time beforehand, and adds up the few points that each
// window leaves.
#include "gpu/msm/msm.h"

namespace cuzk::gpu {
namespace {

constexpr int kSlots = 28;  // reduce.cuh

}  // namespace

size_t MsmResultPoints(const MsmPlan& plan) { return static_cast<size_t>(plan.windows.count) * kSlots; }

/// Fitted to what sums of 2^20 to 2^27 take. Affine: an addition with its part of sorting, a bucket with its tile's
/// additions, a round's inversions, which come once for all windows that are worked on at a time.
double EstimateProducts(const MsmPlan& plan) {
  double additions = static_cast<double>(plan.windows.count) * plan.terms;
  double buckets = plan.windows.BucketsBelow(plan.windows.count);
  if (!plan.affine) return additions * 11 + buckets * 30;
  double side = 1 << plan.side_log2, parts = (plan.windows.count + plan.batch - 1) / plan.batch;
  return additions * 7.8 + buckets * (20 + 65 / side) + 2e6 * parts * (plan.item_limit + side);
}

template <class F>
algebra::JacobianPoint<F> FinishMsm(const MsmPlan& plan, const algebra::XyzzPoint<F>* results) {
  auto sum = algebra::JacobianPoint<F>::Infinity();
  int segment_log2 = Log2(plan.segment);
  for (int w = plan.windows.count; w-- > 0;) {
    if (w + 1 < plan.windows.count) {
      for (int i = 0; i < plan.windows.Bits(w); ++i) sum = algebra::Double(sum);
    }
    const algebra::XyzzPoint<F>* slot = results + static_cast<size_t>(w) * kSlots;
    auto numbers = algebra::JacobianPoint<F>::Infinity();
    for (int k = Log2(plan.windows.Buckets(w) / plan.segment); k-- > 0;) {
      numbers = algebra::Add(algebra::Double(numbers), algebra::ToJacobian(slot[1 + k]));
    }
    for (int i = 0; i < segment_log2; ++i) numbers = algebra::Double(numbers);
    sum = algebra::Add(sum, algebra::Add(numbers, algebra::ToJacobian(slot[0])));
  }
  return sum;
}

template algebra::G1 FinishMsm(const MsmPlan&, const algebra::G1Xyzz*);
template algebra::G2 FinishMsm(const MsmPlan&, const algebra::G2Xyzz*);

}  // namespace cuzk::gpu
