#pragma once
// Many independent additions in affine coordinates that share one inversion: 5M + 1S each and an inversion for all.
// The loop under MSM, fixed-base multiplication and sums of points. Each arithmetic has its own body of it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/algebra/curve/curve.h"
#include "core/algebra/simd/cpu_arithmetic.h"

namespace cuzk::algebra {

/// *out = left + right, either of them negated first if so marked. `out` may be the same point as `left` or `right`,
/// but no other operand or result of the same batch.
template <class F>
struct PointAddition {
  const AffinePoint<F>* left;
  const AffinePoint<F>* right;
  AffinePoint<F>* out;
  bool negate_left, negate_right;
};

/// Additions of one thread, with the scratch that they need. Every case is right: infinity, equal and opposite points.
template <class F>
class BatchAdder {
 public:
  /// Additions are carried out at most this many at a time.
  static constexpr size_t kBatch = 1024;

  virtual ~BatchAdder() = default;

  /// Any number of additions; none may read what another one of the span writes.
  virtual void Run(std::span<const PointAddition<F>> additions) = 0;
};

/// The body for scalar arithmetic.
template <class F>
class ScalarBatchAdder final : public BatchAdder<F> {
 public:
  ScalarBatchAdder() : denominator_(this->kBatch), prefix_(this->kBatch) {}

  void Run(std::span<const PointAddition<F>> additions) override {
    for (size_t i = 0; i < additions.size(); i += this->kBatch) {
      RunBatch(additions.subspan(i, std::min(this->kBatch, additions.size() - i)));
    }
  }

 private:
  void RunBatch(std::span<const PointAddition<F>> additions);
  // What an addition turned out to be; for all but kAdd and kDouble the shared denominator is one.
  enum class Case : uint8_t { kAdd, kDouble, kTakeLeft, kTakeRight, kInfinity };
  static Case Classify(const PointAddition<F>& addition, F& denominator);

  std::vector<F> denominator_, prefix_;
  Case case_[BatchAdder<F>::kBatch];
};

/// The adder of an arithmetic, which must be supported.
template <class F>
std::unique_ptr<BatchAdder<F>> MakeBatchAdder(Arithmetic arithmetic);

extern template class ScalarBatchAdder<Fp>;
extern template class ScalarBatchAdder<Fp2>;

}  // namespace cuzk::algebra
