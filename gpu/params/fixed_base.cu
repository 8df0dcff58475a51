#include "gpu/params/fixed_base.h"

#include "gpu/field/inverse.cuh"
#include "gpu/msm/points.cuh"

namespace cuzk::gpu {
namespace {

template <class D>
__global__ void __launch_bounds__(128)
    FixedBaseKernel(const Affine<D>* table, const FrD* scalars, size_t n, Affine<D>* out) {
  size_t i = blockIdx.x * 128ull + threadIdx.x;
  if (i >= n) return;
  uint32_t k[8];
  LoadConst(scalars + i).ToCanonical(k);
  Xyzz<D> sum = Xyzz<D>::Infinity();
#pragma unroll 1
  for (uint32_t w = 0; w < 32; ++w) {
    uint32_t digit = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) digit = w / 4 == j ? k[j] >> (8 * (w % 4)) & 255 : digit;
    if (digit != 0) AddTo(sum, LoadEntry(table, w * 255 + digit - 1));
  }
  if (sum.IsInfinity()) {
    Store(out + i, Affine<D>::Infinity());
    return;
  }
  D inverse = sum.zzz.Inverse(), z = sum.zz * inverse;
  Store(out + i, Affine<D>{sum.x * z.Square(), sum.y * inverse});
}

template <class D, class F>
Status Launch(const algebra::AffinePoint<F>* table, const algebra::Fr* scalars, size_t n, algebra::AffinePoint<F>* out,
              StreamView stream) {
  FixedBaseKernel<D><<<static_cast<uint32_t>((n + 127) / 128), 128, 0, stream.get()>>>(
      reinterpret_cast<const Affine<D>*>(table), reinterpret_cast<const FrD*>(scalars), n,
      reinterpret_cast<Affine<D>*>(out));
  CUZK_CUDA_LAUNCHED("FixedBaseKernel");
  return absl::OkStatus();
}

}  // namespace

namespace detail {
template <>
Status EnqueueFixedBase(const algebra::G1Affine* table, const algebra::Fr* scalars, size_t n, algebra::G1Affine* out,
                        StreamView stream) {
  return Launch<FpD>(table, scalars, n, out, stream);
}
template <>
Status EnqueueFixedBase(const algebra::G2Affine* table, const algebra::Fr* scalars, size_t n, algebra::G2Affine* out,
                        StreamView stream) {
  return Launch<Fp2D>(table, scalars, n, out, stream);
}
}  // namespace detail
}  // namespace cuzk::gpu
