#pragma once
// Sums of items in XYZZ: a thread per item, items in order of size so that a warp's lanes end together. 8M + 2S an
// addition.

#include "gpu/msm/sums.cuh"

namespace cuzk::gpu {

template <class F>
__global__ void __launch_bounds__(128, sizeof(F) == 48 ? 4 : 2)
    XyzzKernel(const Affine<F>* points, const uint32_t* entries, const uint32_t* live, const uint32_t* begin,
               const uint8_t* size, Xyzz<F>* sums) {
  uint32_t items = live[0];
  for (uint64_t q = blockIdx.x * 128ull + threadIdx.x; q < items; q += gridDim.x * 128ull) {
    uint32_t from = begin[q], count = size[q];
    Affine<F> p = LoadEntry(points, entries[from]);
    Xyzz<F> sum = p.IsInfinity() ? Xyzz<F>::Infinity() : Xyzz<F>{p.x, p.y, F::One(), F::One()};
    for (uint32_t i = 1; i < count; ++i) AddTo(sum, LoadEntry(points, entries[from + i]));
    Store(sums + q, sum);
  }
}

}  // namespace cuzk::gpu
