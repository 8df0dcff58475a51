#pragma once
// The bucket reduction of the affine form. sum (b + 1) S_b wants only plain sums if it is taken over squares: with
// tiles of side^2 buckets, b = tile * side^2 + row * side + column,
//   sum (b + 1) S_b = sum over tiles of A_t + side^2 * sum over tiles of t R_t,
//   A_t = sum_c (c + 1) C_tc + side * sum_r r R_tr,   R_t = sum_r R_tr,
// where C_tc and R_tr are the sums of the tile's columns and rows. Those are 2 side items of side points each, summed
// by the same rounds as the buckets were: two affine additions a bucket, 12 products, where running sums in XYZZ
// take 24. What is left is 1/side of it and the same shape that the other form leaves (reduce.cuh), with segments of
// side^2.

#include "gpu/msm/reduce.cuh"
#include "gpu/msm/sums.cuh"

namespace cuzk::gpu {

/// points[b] = the sum of bucket b, reduced. A thread per bucket; buckets of several items, which are few unless the
/// scalars are uneven, cost an inversion.
template <class F>
__global__ void __launch_bounds__(kSumThreads, sizeof(F) == 48 ? 4 : 2)
    CollectKernel(AffineSums<F> sums, const uint32_t* item_base, const uint32_t* item_place, uint32_t buckets,
                  Affine<F>* points) {
  uint32_t b = blockIdx.x * kSumThreads + threadIdx.x;
  if (b >= buckets) return;
  uint32_t first = item_base[b], items = item_base[b + 1] - first;
  Affine<F> point = Affine<F>::Infinity();
  if (items == 1 || items > kHeavyItems) {
    point = sums.LoadPoint(item_place[first]);
  } else if (items > 1) {
    Xyzz<F> sum = Xyzz<F>::Infinity();
    for (uint32_t i = first; i < first + items; ++i) sum = AddMixedCalled<F>(sum, sums.LoadPoint(item_place[i]));
    if (!sum.IsInfinity()) point = ToAffineCalled<F>(sum);
  }
  Store(&points[b].x, point.x);
  Store(&points[b].y, point.y);
}

/// From the sums of columns and rows to A_t and R_t: two threads a tile, the even one for columns. Dynamic shared
/// memory: a point for every second thread.
template <class F>
__global__ void __launch_bounds__(kSumThreads, 2)
    TileKernel(AffineSums<F> sums, uint32_t tiles, uint32_t side_log2, Xyzz<F>* plain, Xyzz<F>* weighted) {
  extern __shared__ uint4 shared[];
  Xyzz<F>* of_rows = reinterpret_cast<Xyzz<F>*>(shared) + threadIdx.x / 2;
  uint32_t t = blockIdx.x * (kSumThreads / 2) + threadIdx.x / 2, side = 1u << side_log2;
  bool rows = threadIdx.x % 2 != 0;
  Xyzz<F> run = Xyzz<F>::Infinity(), total = Xyzz<F>::Infinity();
  if (t < tiles) {
    uint32_t base = (2 * t + (rows ? 1 : 0)) << side_log2;
    for (uint32_t i = side; i-- > 0;) {
      sums.AddInto(run, base + i);
      if (i > 0 || !rows) AddInPlace(total, run);
    }
    if (rows) {
      Store(plain + t, run);
      for (uint32_t i = 0; i < side_log2; ++i) total = DoubleXyzz<F>(total);
      Store(of_rows, total);
    }
  }
  __syncthreads();
  if (t < tiles && !rows) Store(weighted + t, AddCalled<F>(total, Load(of_rows)));
}

}  // namespace cuzk::gpu
