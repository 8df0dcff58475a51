#pragma once
// From items to the sums of windows. Bucket b (from 0) of a window counts b + 1 times. With segments of `length`
// buckets and T the segments of the window:
//   sum (b+1) S_b = sum_t A_t + length * sum_t t R_t,   R_t = sum of the segment's buckets, A_t = sum_i (i+1) S_i
//   within it,
// and sum_t t R_t = sum_k 2^k (sum of the R_t whose index has bit k): plain sums, done by a block each; the host adds
// up.

#include "gpu/msm/items.h"
#include "gpu/msm/sums.cuh"
#include "gpu/msm/windows.h"

namespace cuzk::gpu {

inline constexpr int kSumThreads = 128;
/// Slots of one window in the results: the sum of A, then one for each bit of a segment's number.
inline constexpr int kResultSlots = 28;

/// Buckets of many items, one by one, a block each: the sum replaces the bucket's first item. Grid-stride over the
/// list.
template <class F, class Sums>
__global__ void __launch_bounds__(kSumThreads)
    HeavyKernel(Sums sums, const uint32_t* heavy, const uint32_t* item_base, const uint32_t* item_place) {
  extern __shared__ uint4 shared[];
  uint32_t count = min(heavy[0], kMaxHeavy);
  for (uint32_t h = blockIdx.x; h < count; h += gridDim.x) {
    uint32_t bucket = heavy[1 + h];
    uint32_t first = item_base[bucket], last = item_base[bucket + 1];
    Xyzz<F> sum = Xyzz<F>::Infinity();
    for (uint32_t i = first + threadIdx.x; i < last; i += kSumThreads) sums.AddInto(sum, item_place[i]);
    sum = BlockSum<F>(sum, reinterpret_cast<Xyzz<F>*>(shared));
    if (threadIdx.x == 0) sums.Put(item_place[first], sum);
    __syncthreads();
  }
}

/// A thread per segment. 2 additions a bucket, 1 more for every further item.
template <class F>
__global__ void __launch_bounds__(kSumThreads, 2)
    SegmentKernel(XyzzSums<F> sums, const uint32_t* item_base, const uint32_t* item_place, uint32_t segments,
                  uint32_t length, Xyzz<F>* plain, Xyzz<F>* weighted) {
  uint32_t t = blockIdx.x * kSumThreads + threadIdx.x;
  if (t >= segments) return;
  Xyzz<F> run = Xyzz<F>::Infinity(), total = Xyzz<F>::Infinity();
  uint32_t last = item_base[(t + 1) * length];
  for (uint32_t b = (t + 1) * length; b-- > t * length;) {
    uint32_t first = item_base[b];
    uint32_t items = last - first > kHeavyItems ? 1 : last - first;
    for (uint32_t i = 0; i < items; ++i) sums.AddInto(run, item_place[first + i]);
    last = first;
    AddInPlace(total, run);
  }
  Store(plain + t, run);
  Store(weighted + t, total);
}

/// Block (slot, window): slot 0 sums the window's weighted sums, slot 1 + k the plain sums of segments with bit k.
template <class F>
__global__ void __launch_bounds__(kSumThreads)
    WindowKernel(const Xyzz<F>* plain, const Xyzz<F>* weighted, Windows windows, int first, uint32_t length,
                 Xyzz<F>* results) {
  extern __shared__ uint4 shared[];
  int w = first + static_cast<int>(blockIdx.y), slot = static_cast<int>(blockIdx.x);
  uint32_t base = (windows.BucketsBelow(w) - windows.BucketsBelow(first)) / length;
  uint32_t count = windows.Buckets(w) / length;
  Xyzz<F> sum = Xyzz<F>::Infinity();
  if (slot == 0) {
    for (uint32_t i = threadIdx.x; i < count; i += kSumThreads) sum = AddCalled<F>(sum, Load(weighted + base + i));
  } else if (count >> (slot - 1) > 1) {
    uint32_t k = static_cast<uint32_t>(slot - 1), low_mask = (1u << k) - 1;
    for (uint32_t i = threadIdx.x; i < count / 2; i += kSumThreads) {
      uint32_t t = (i & ~low_mask) << 1 | 1u << k | (i & low_mask);
      sum = AddCalled<F>(sum, Load(plain + base + t));
    }
  }
  sum = BlockSum<F>(sum, reinterpret_cast<Xyzz<F>*>(shared));
  if (threadIdx.x == 0) Store(results + w * kResultSlots + slot, sum);
}

/// Sums of listed points, no scalars: thread t of the grid adds points list[t], list[t + threads], ...; a sum per
/// block. `count` is read from the device.
template <class F>
__global__ void __launch_bounds__(kSumThreads, sizeof(F) == 48 ? 4 : 2)
    ListKernel(const Affine<F>* points, const uint32_t* list, const uint32_t* count, Xyzz<F>* block_sums) {
  extern __shared__ uint4 shared[];
  Xyzz<F> sum = Xyzz<F>::Infinity();
  uint32_t n = *count, threads = gridDim.x * kSumThreads;
  for (uint64_t i = blockIdx.x * kSumThreads + threadIdx.x; i < n; i += threads) AddTo(sum, LoadEntry(points, list[i]));
  sum = BlockSum<F>(sum, reinterpret_cast<Xyzz<F>*>(shared));
  if (threadIdx.x == 0) Store(block_sums + blockIdx.x, sum);
}

/// One block: the sum of `count` points into *result.
template <class F>
__global__ void __launch_bounds__(kSumThreads) TotalKernel(const Xyzz<F>* points, uint32_t count, Xyzz<F>* result) {
  extern __shared__ uint4 shared[];
  Xyzz<F> sum = Xyzz<F>::Infinity();
  for (uint32_t i = threadIdx.x; i < count; i += kSumThreads) sum = AddCalled<F>(sum, Load(points + i));
  sum = BlockSum<F>(sum, reinterpret_cast<Xyzz<F>*>(shared));
  if (threadIdx.x == 0) Store(result, sum);
}

}  // namespace cuzk::gpu
