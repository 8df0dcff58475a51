#include "gpu/params/fixed_base.h"

#include <algorithm>

#include "gpu/field/inverse.cuh"
#include "gpu/msm/points.cuh"

namespace cuzk::gpu {
namespace {

/// Multiples of one thread, whose last step they share: one inversion for all of them.
constexpr int kTogether = 8;

template <class D>
CUZK_DEVICE Xyzz<D> Multiple(const Affine<D>* table, const FrD& scalar) {
  uint32_t k[8];
  scalar.ToCanonical(k);
  Xyzz<D> sum = Xyzz<D>::Infinity();
#pragma unroll 1
  for (uint32_t w = 0; w < 32; ++w) {
    uint32_t digit = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) digit = w / 4 == j ? k[j] >> (8 * (w % 4)) & 255 : digit;
    if (digit != 0) AddTo(sum, LoadEntry(table, w * 255 + digit - 1));
  }
  return sum;
}

/// Thread t makes multiples t, t + stride, and so on; sums and products of their denominators wait in local memory.
template <class D>
__global__ void __launch_bounds__(128)
    FixedBaseKernel(const Affine<D>* table, const FrD* scalars, size_t n, size_t stride, Affine<D>* out) {
  size_t first = blockIdx.x * 128ull + threadIdx.x;
  if (first >= stride) return;
  Xyzz<D> sums[kTogether];
  D products[kTogether];
  D product = D::One();
  int count = 0;
#pragma unroll 1
  for (size_t i = first; i < n; i += stride, ++count) {
    sums[count] = Multiple(table, LoadConst(scalars + i));
    products[count] = product;
    if (!sums[count].IsInfinity()) product = product * sums[count].zzz;
  }
  D inverse = product.Inverse();
#pragma unroll 1
  while (count-- > 0) {
    const Xyzz<D> sum = sums[count];
    const size_t i = first + count * stride;
    if (sum.IsInfinity()) {
      Store(out + i, Affine<D>::Infinity());
      continue;
    }
    D own = inverse * products[count], z = sum.zz * own;
    inverse = inverse * sum.zzz;
    Store(out + i, Affine<D>{sum.x * z.Square(), sum.y * own});
  }
}

template <class D>
__global__ void InfinityKernel(const Affine<D>* points, size_t n, uint64_t first_index, unsigned long long* first) {
  size_t i = blockIdx.x * 256ull + threadIdx.x;
  if (i < n && Load(points + i).IsInfinity()) atomicMin(first, static_cast<unsigned long long>(first_index + i));
}

template <class D, class F>
Status LaunchInfinity(const algebra::AffinePoint<F>* points, size_t n, uint64_t first_index, unsigned long long* first,
                      StreamView stream) {
  if (n == 0) return absl::OkStatus();
  InfinityKernel<D><<<static_cast<uint32_t>((n + 255) / 256), 256, 0, stream.get()>>>(
      reinterpret_cast<const Affine<D>*>(points), n, first_index, first);
  CUZK_CUDA_LAUNCHED("InfinityKernel");
  return absl::OkStatus();
}

template <class D, class F>
Status Launch(const algebra::AffinePoint<F>* table, const algebra::Fr* scalars, size_t n, algebra::AffinePoint<F>* out,
              StreamView stream) {
  // Small calls keep every thread busy rather than share inversions.
  const size_t least = size_t{1} << 16, stride = std::min(n, std::max(least, (n + kTogether - 1) / kTogether));
  FixedBaseKernel<D><<<static_cast<uint32_t>((stride + 127) / 128), 128, 0, stream.get()>>>(
      reinterpret_cast<const Affine<D>*>(table), reinterpret_cast<const FrD*>(scalars), n, stride,
      reinterpret_cast<Affine<D>*>(out));
  CUZK_CUDA_LAUNCHED("FixedBaseKernel");
  return absl::OkStatus();
}

}  // namespace

template <>
Status FindInfinity(const algebra::G1Affine* points, size_t n, uint64_t first_index, unsigned long long* first,
                    StreamView stream) {
  return LaunchInfinity<FpD>(points, n, first_index, first, stream);
}
template <>
Status FindInfinity(const algebra::G2Affine* points, size_t n, uint64_t first_index, unsigned long long* first,
                    StreamView stream) {
  return LaunchInfinity<Fp2D>(points, n, first_index, first, stream);
}

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
