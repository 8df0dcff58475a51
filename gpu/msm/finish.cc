// What the host does of a multi-exponentiation: it adds up the few points that each window leaves.
#include "gpu/msm/msm.h"

namespace cuzk::gpu {
namespace {

constexpr int kSlots = 28;  // reduce.cuh

}  // namespace

size_t MsmResultPoints(const MsmPlan& plan) { return static_cast<size_t>(plan.windows.count) * kSlots; }

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
