// The adder around the bodies in batch_add_fma.cc and batch_add_ifma.cc. Built for every processor.

#include <cstdlib>
#include <new>

#include "core/algebra/msm/batch_add_lanes.h"

namespace cuzk::algebra {
namespace {

constexpr std::align_val_t kScratchAlignment{64};

struct FreeScratch {
  void operator()(std::byte* p) const { ::operator delete(p, kScratchAlignment); }
};

template <class F>
class LaneBatchAdder final : public BatchAdder<F> {
 public:
  using Add = void (*)(std::span<const PointAddition<F>>, std::byte*);

  LaneBatchAdder(Add add, size_t scratch_bytes)
      : add_(add), scratch_(static_cast<std::byte*>(::operator new(scratch_bytes, kScratchAlignment))) {}

  void Run(std::span<const PointAddition<F>> additions) override { add_(additions, scratch_.get()); }

 private:
  const Add add_;
  std::unique_ptr<std::byte, FreeScratch> scratch_;
};

}  // namespace

void InvertEight(Fp* values) {
  Fp scratch[8];
  BatchInvert(std::span<Fp>(values, 8), std::span<Fp>(scratch));
}

template <class F>
AffinePoint<F> AddOne(const PointAddition<F>& addition) {
  AffinePoint<F> left = *addition.left, right = *addition.right;
  if (addition.negate_left) left = -left;
  if (addition.negate_right) right = -right;
  if (left.IsInfinity()) return right;
  if (right.IsInfinity()) return left;
  if (left.x != right.x) {
    return formulas::AddWithSlope(left, right.x, (right.y - left.y) * (right.x - left.x).Inverse());
  }
  if (left.y != right.y) return AffinePoint<F>::Infinity();
  F xx = left.x.Square();
  return formulas::AddWithSlope(left, left.x, (xx.Double() + xx) * left.y.Double().Inverse());
}

template <class F>
std::unique_ptr<BatchAdder<F>> MakeLaneBatchAdder(Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::kFma) return std::make_unique<LaneBatchAdder<F>>(FmaAdd<F>, FmaAddScratchBytes<F>());
  return std::make_unique<LaneBatchAdder<F>>(IfmaAdd<F>, IfmaAddScratchBytes<F>());
}

template AffinePoint<Fp> AddOne(const PointAddition<Fp>&);
template AffinePoint<Fp2> AddOne(const PointAddition<Fp2>&);
template std::unique_ptr<BatchAdder<Fp>> MakeLaneBatchAdder(Arithmetic);
template std::unique_ptr<BatchAdder<Fp2>> MakeLaneBatchAdder(Arithmetic);

}  // namespace cuzk::algebra
