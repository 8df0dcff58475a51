#pragma once
// Sums of listed points, without scalars. Long lists are cut into items of equal length, which are summed in rounds
// (rounds.cuh): 6 products an addition instead of 10. What is left, an item's sum each, and short lists are summed in
// XYZZ. How long the list is, only the device knows.

#include <algorithm>

#include "gpu/msm/enqueue_rounds.cuh"
#include "gpu/msm/reduce.cuh"

namespace cuzk::gpu {

inline constexpr uint32_t kListBlocks = 1024;
/// Items of a list at most. More of them keep threads busy between two inversions, fewer leave less for XYZZ.
template <class F>
inline constexpr uint32_t kListItems = sizeof(F) == 48 ? 1u << 21 : 1u << 20;
/// A list that may be this long is cut into items.
inline constexpr uint32_t kLongList = 1u << 22;

/// Cuts *count entries into at most `most` items: `begin` of each, and `live` (see items.h), `rounds` + 2 of them.
static __global__ void ListItemsKernel(const uint32_t* count, uint32_t most, uint32_t rounds, uint32_t* begin,
                                       uint32_t* live) {
  uint32_t n = *count, length = n == 0 ? 1 : (n - 1) / most + 1, items = (n + length - 1) / length;
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < items) begin[i] = i * length;
  if (i >= rounds + 2) return;
  // All items have i < length points more, but the last one, which has what is left.
  bool last_has_more = items > 0 && i < n - (items - 1) * length;
  live[i] = i >= length ? 0 : last_has_more ? items : max(items, 1u) - 1;
}

/// A sum per block of the items' sums.
template <class F>
__global__ void __launch_bounds__(kSumThreads, sizeof(F) == 48 ? 4 : 2)
    ItemTotalKernel(AffineSums<F> sums, const uint32_t* live, Xyzz<F>* block_sums) {
  extern __shared__ uint4 shared[];
  Xyzz<F> sum = Xyzz<F>::Infinity();
  uint32_t items = live[0], threads = gridDim.x * kSumThreads;
  for (uint32_t i = blockIdx.x * kSumThreads + threadIdx.x; i < items; i += threads) sums.AddInto(sum, i);
  sum = BlockSum<F>(sum, reinterpret_cast<Xyzz<F>*>(shared));
  if (threadIdx.x == 0) Store(block_sums + blockIdx.x, sum);
}

/// Scratch of a long list.
template <class D>
struct ListScratch {
  uint32_t items = 0, rounds = 0;  // at most
  uint32_t *begin = nullptr, *live = nullptr;
  Rounds<D> work{};
};

/// As many items as the arena has room for; none if it has too little for the rounds to be worth while.
template <class D>
ListScratch<D> LayOutList(uint32_t processors, uint32_t capacity, Arena& arena) {
  for (uint32_t items = kListItems<D>; items >= kListItems<D> / 4; items /= 2) {
    Arena trial = arena;
    ListScratch<D> s;
    s.items = items;
    s.rounds = (capacity - 1) / items + 1;
    s.begin = trial.Take<uint32_t>(items);
    s.live = trial.Take<uint32_t>(s.rounds + 2);
    LayOutRounds(items, processors, s.work, trial);
    if (trial.overrun()) continue;
    arena = trial;
    s.work.begin = s.begin;
    s.work.live = s.live;
    return s;
  }
  return {};
}

template <class F>
size_t ListSumBytes() {
  return (kListBlocks + 1) * sizeof(algebra::XyzzPoint<F>) + 512;
}

template <class F>
Status EnqueueListSum(const prover::CardLimits& card, const algebra::AffinePoint<F>* points, const uint32_t* list,
                      uint32_t capacity, const uint32_t* count, Arena arena, algebra::XyzzPoint<F>* result,
                      StreamView stream) {
  using D = typename DeviceFieldOf<F>::Type;
  constexpr size_t kShared = kSumThreads * sizeof(Xyzz<D>);
  const uint32_t processors = std::max(card.multiprocessors, 1u);
  Xyzz<D>* sums = arena.Take<Xyzz<D>>(kListBlocks);
  Xyzz<D>* total = arena.Take<Xyzz<D>>(1);
  if (arena.overrun()) return absl::ResourceExhaustedError("no scratch for a sum of listed points");
  ListScratch<D> s;
  if (capacity >= kLongList) s = LayOutList<D>(processors, capacity, arena);
  if (s.items > 0) {
    s.work.points = reinterpret_cast<const Affine<D>*>(points);
    s.work.entries = list;
    ListItemsKernel<<<s.items / 256, 256, 0, stream.get()>>>(count, s.items, s.rounds, s.begin, s.live);
    CUZK_CUDA_LAUNCHED("ListItemsKernel");
    CUZK_RETURN_IF_ERROR(EnqueueRounds(s.work, s.items, s.rounds, processors, stream));
    ItemTotalKernel<D><<<kListBlocks, kSumThreads, kShared, stream.get()>>>(s.work.sums, s.live, sums);
    CUZK_CUDA_LAUNCHED("ItemTotalKernel");
  } else {
    ListKernel<D><<<kListBlocks, kSumThreads, kShared, stream.get()>>>(reinterpret_cast<const Affine<D>*>(points), list,
                                                                       count, sums);
    CUZK_CUDA_LAUNCHED("ListKernel");
  }
  TotalKernel<D><<<1, kSumThreads, kShared, stream.get()>>>(sums, kListBlocks, total);
  CUZK_CUDA_LAUNCHED("TotalKernel");
  CUZK_CUDA(cudaMemcpyAsync(result, total, sizeof(*total), cudaMemcpyDeviceToHost, stream.get()));
  return absl::OkStatus();
}

}  // namespace cuzk::gpu
