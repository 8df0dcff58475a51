#include <vector>

#include "gpu/params/fixed_base.h"

namespace cuzk::gpu {

template <class F>
StatusOr<FixedBaseTable<F>> FixedBaseTable<F>::Make(const algebra::AffinePoint<F>& base, DeviceMemory& memory,
                                                    StreamView stream) {
  using Point = algebra::JacobianPoint<F>;
  std::vector<Point> points;
  points.reserve(kWindows * kDigits);
  Point window = algebra::ToJacobian(base);
  for (size_t w = 0; w < kWindows; ++w) {
    Point p = window;
    for (size_t d = 0; d < kDigits; ++d) {
      points.push_back(p);
      p = algebra::Add(p, window);
    }
    window = p;
  }
  std::vector<algebra::AffinePoint<F>> affine(points.size());
  algebra::BatchToAffine(std::span<const Point>(points), std::span<algebra::AffinePoint<F>>(affine));
  FixedBaseTable table;
  CUZK_ASSIGN_OR_RETURN(table.table_, Buffer<algebra::AffinePoint<F>>::Allocate(memory, affine.size()));
  CUZK_CUDA(
      cudaMemcpyAsync(table.table_.data(), affine.data(), table.table_.bytes(), cudaMemcpyHostToDevice, stream.get()));
  CUZK_RETURN_IF_ERROR(stream.Synchronize());
  return table;
}

template <class F>
Status FixedBaseTable<F>::Multiply(const algebra::Fr* scalars, size_t n, algebra::AffinePoint<F>* out,
                                   StreamView stream) const {
  if (n == 0) return absl::OkStatus();
  return detail::EnqueueFixedBase(table_.data(), scalars, n, out, stream);
}

template class FixedBaseTable<algebra::Fp>;
template class FixedBaseTable<algebra::Fp2>;

}  // namespace cuzk::gpu
