#include "core/algebra/msm/batch_add.h"

#include "core/algebra/msm/batch_add_lanes.h"

namespace cuzk::algebra {
namespace {

template <class F>
F Signed(const F& y, bool negate) {
  return negate ? -y : y;
}

/// Asks for the operands, which lie anywhere in memory. Inlined, because GCC takes a function that only prefetches for
/// one without effect.
template <class F>
[[gnu::always_inline]] inline void Prefetch(const PointAddition<F>& addition) {
  for (const AffinePoint<F>* p : {addition.left, addition.right}) {
    for (size_t byte = 0; byte < sizeof *p; byte += 64) __builtin_prefetch(reinterpret_cast<const char*>(p) + byte);
  }
}

}  // namespace

template <class F>
typename ScalarBatchAdder<F>::Case ScalarBatchAdder<F>::Classify(const PointAddition<F>& addition, F& denominator) {
  const AffinePoint<F>&l = *addition.left, &r = *addition.right;
  denominator = F::One();
  if (l.IsInfinity()) return Case::kTakeRight;
  if (r.IsInfinity()) return Case::kTakeLeft;
  F difference = r.x - l.x;
  if (!difference.IsZero()) {
    denominator = difference;
    return Case::kAdd;
  }
  if (Signed(l.y, addition.negate_left) == Signed(r.y, addition.negate_right)) {
    denominator = l.y.Double();
    return Case::kDouble;
  }
  return Case::kInfinity;
}

template <class F>
void ScalarBatchAdder<F>::RunBatch(std::span<const PointAddition<F>> additions) {
  constexpr size_t kAhead = 12;
  F product = F::One();
  for (size_t i = 0; i < additions.size(); ++i) {
    if (i + kAhead < additions.size()) Prefetch(additions[i + kAhead]);
    case_[i] = Classify(additions[i], denominator_[i]);
    prefix_[i] = product;
    product *= denominator_[i];
  }
  F inverse = product.Inverse();
  for (size_t i = additions.size(); i-- > 0;) {
    const PointAddition<F>& a = additions[i];
    F reciprocal = inverse * prefix_[i];
    inverse *= denominator_[i];
    AffinePoint<F> left = {a.left->x, Signed(a.left->y, a.negate_left)};
    AffinePoint<F> right = {a.right->x, Signed(a.right->y, a.negate_right)};
    switch (case_[i]) {
      case Case::kAdd:
        *a.out = formulas::AddWithSlope(left, right.x, (right.y - left.y) * reciprocal);
        break;
      case Case::kDouble: {
        // The denominator was twice the unsigned y.
        F xx = left.x.Square();
        F slope = (xx.Double() + xx) * reciprocal;
        *a.out = formulas::AddWithSlope(left, left.x, Signed(slope, a.negate_left));
        break;
      }
      case Case::kTakeLeft:
        *a.out = left;
        break;
      case Case::kTakeRight:
        *a.out = right;
        break;
      case Case::kInfinity:
        *a.out = AffinePoint<F>::Infinity();
        break;
    }
  }
}

template <class F>
std::unique_ptr<BatchAdder<F>> MakeBatchAdder(Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::kScalar) return std::make_unique<ScalarBatchAdder<F>>();
  return MakeLaneBatchAdder<F>(arithmetic);
}

template std::unique_ptr<BatchAdder<Fp>> MakeBatchAdder(Arithmetic);
template std::unique_ptr<BatchAdder<Fp2>> MakeBatchAdder(Arithmetic);
template class ScalarBatchAdder<Fp>;
template class ScalarBatchAdder<Fp2>;

}  // namespace cuzk::algebra
