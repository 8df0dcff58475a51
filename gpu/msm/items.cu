#include "gpu/msm/items.h"

#include <algorithm>

#include <cub/device/device_scan.cuh>

#include "gpu/field/device_field.cuh"

namespace cuzk::gpu {
namespace {

constexpr int kBlock = 256;
__global__ void CountKernel(const uint32_t* begin, const uint32_t* end, uint32_t buckets, uint32_t limit,
                            uint32_t* counts) {
  uint32_t b = blockIdx.x * kBlock + threadIdx.x;
  if (b > buckets) return;
  counts[b] = b < buckets ? (end[b] - begin[b] + limit - 1) / limit : 0;
}

/// Cuts buckets into items and counts items by size. Buckets of many items are cut by their whole warp.
__global__ void CutKernel(const uint32_t* begin, const uint32_t* end, const uint32_t* item_base, uint32_t buckets,
                          uint32_t limit, uint32_t* item_begin, uint8_t* item_size, uint32_t* histogram,
                          uint32_t* heavy) {
  __shared__ uint32_t local[kItemLimit + 2];
  for (uint32_t i = threadIdx.x; i < kItemLimit + 2; i += kBlock) local[i] = 0;
  __syncthreads();
  uint32_t b = blockIdx.x * kBlock + threadIdx.x;
  uint32_t from = 0, size = 0, base = 0;
  if (b < buckets) {
    from = begin[b];
    size = end[b] - from;
    base = item_base[b];
  }
  uint32_t items = (size + limit - 1) / limit;
  bool shared_work = items > 4;
  if (!shared_work) {
    for (uint32_t k = 0; k < items; ++k) {
      uint32_t length = min(limit, size - k * limit);
      item_begin[base + k] = from + k * limit;
      item_size[base + k] = static_cast<uint8_t>(length);
      atomicAdd(&local[length], 1);
    }
  } else if (items > kHeavyItems) {
    uint32_t slot = atomicAdd(heavy, 1);
    if (slot < kMaxHeavy) heavy[1 + slot] = b;
  }
  for (uint32_t mask = __ballot_sync(0xffffffffu, shared_work); mask != 0; mask &= mask - 1) {
    int source = __ffs(static_cast<int>(mask)) - 1;
    uint32_t their_from = __shfl_sync(0xffffffffu, from, source), their_size = __shfl_sync(0xffffffffu, size, source);
    uint32_t their_base = __shfl_sync(0xffffffffu, base, source);
    uint32_t their_items = (their_size + limit - 1) / limit;
    for (uint32_t k = threadIdx.x % 32; k < their_items; k += 32) {
      uint32_t length = min(limit, their_size - k * limit);
      item_begin[their_base + k] = their_from + k * limit;
      item_size[their_base + k] = static_cast<uint8_t>(length);
      atomicAdd(&local[length], 1);
    }
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < kItemLimit + 2; i += kBlock) {
    if (local[i] != 0) atomicAdd(histogram + i, local[i]);
  }
}

/// live[j] = items of more than j points; cursor[s] = place of the first item of s points. One block.
__global__ void __launch_bounds__(kBlock) OrderKernel(const uint32_t* histogram, uint32_t* live, uint32_t* cursor) {
  __shared__ uint32_t longer[kItemLimit + 2];
  static_assert(kItemLimit + 2 <= kBlock);
  uint32_t i = threadIdx.x;
  if (i < kItemLimit + 2) longer[i] = i > 0 ? histogram[i] : 0;
  __syncthreads();
  if (i == 0) {
    uint32_t sum = 0;
    for (int s = kItemLimit + 1; s >= 0; --s) {
      uint32_t here = longer[s];
      longer[s] = sum;
      sum += here;
    }
  }
  __syncthreads();
  if (i < kItemLimit + 2) {
    live[i] = longer[i];
    cursor[i] = longer[i];
  }
}

/// Puts every item at its place. live[0] is the number of items.
__global__ void PlaceKernel(const uint32_t* item_begin, const uint8_t* item_size, const uint32_t* live,
                            uint32_t* cursor, uint32_t* item_place, uint32_t* ordered_begin, uint8_t* ordered_size) {
  __shared__ uint32_t local[kItemLimit + 2], base[kItemLimit + 2];
  uint32_t items = live[0];
  for (uint32_t tile = blockIdx.x; static_cast<uint64_t>(tile) * kBlock < items; tile += gridDim.x) {
    for (uint32_t i = threadIdx.x; i < kItemLimit + 2; i += kBlock) local[i] = 0;
    __syncthreads();
    uint32_t item = tile * kBlock + threadIdx.x, size = 0, rank = 0;
    if (item < items) {
      size = item_size[item];
      rank = atomicAdd(&local[size], 1);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < kItemLimit + 2; i += kBlock) {
      if (local[i] != 0) base[i] = atomicAdd(cursor + i, local[i]);
    }
    __syncthreads();
    if (item < items) {
      uint32_t place = base[size] + rank;
      item_place[item] = place;
      ordered_begin[place] = item_begin[item];
      ordered_size[place] = static_cast<uint8_t>(size);
    }
    __syncthreads();
  }
}

/// A thread per entry.
__global__ void TileItemsKernel(uint32_t buckets, uint32_t side_log2, uint32_t* entries, uint32_t* begin,
                                uint32_t* live) {
  uint32_t e = blockIdx.x * kBlock + threadIdx.x, side = 1u << side_log2;
  if (e < kItemLimit + 2) live[e] = e < side ? 2 * (buckets >> side_log2) : 0;
  if (e >= 2 * buckets) return;
  uint32_t j = e & (side - 1), item = e >> side_log2, line = item & (side - 1), tile = item >> (side_log2 + 1);
  bool row = (item >> side_log2 & 1) != 0;
  entries[e] = (tile << 2 * side_log2) + (row ? (line << side_log2) + j : (j << side_log2) + line);
  if (j == 0) begin[item] = e;
}

uint32_t Blocks(uint64_t n) { return static_cast<uint32_t>((n + kBlock - 1) / kBlock); }

}  // namespace

Status MakeItems(const MsmPlan& plan, int first, int count, const IndexMap& map, const ItemScratch& s,
                 StreamView stream) {
  cudaStream_t on = stream.get();
  const uint32_t *begin = s.sorted.begin, *end = s.sorted.end;
  uint32_t buckets = plan.windows.BucketsBelow(first + count) - plan.windows.BucketsBelow(first);
  CUZK_CUDA(cudaMemsetAsync(s.cursor, 0, (kItemLimit + 2) * sizeof(uint32_t), on));
  CUZK_CUDA(cudaMemsetAsync(s.heavy, 0, sizeof(uint32_t), on));
  CUZK_RETURN_IF_ERROR(SortIntoBuckets(plan, first, count, map, s.sort, s.sorted, stream));
  CountKernel<<<Blocks(buckets + 1ull), kBlock, 0, on>>>(begin, end, buckets, plan.item_limit, s.item_base);
  CUZK_CUDA_LAUNCHED("CountKernel");
  size_t bytes = s.scan_bytes;
  CUZK_CUDA(cub::DeviceScan::ExclusiveSum(s.scan_scratch, bytes, s.item_base, s.item_base, buckets + 1, on));
  CutKernel<<<Blocks(buckets), kBlock, 0, on>>>(begin, end, s.item_base, buckets, plan.item_limit, s.item_begin,
                                                s.item_size, s.cursor, s.heavy);
  CUZK_CUDA_LAUNCHED("CutKernel");
  OrderKernel<<<1, kBlock, 0, on>>>(s.cursor, s.live, s.cursor);
  CUZK_CUDA_LAUNCHED("OrderKernel");
  PlaceKernel<<<2048, kBlock, 0, on>>>(s.item_begin, s.item_size, s.live, s.cursor, s.item_place, s.ordered_begin,
                                       s.ordered_size);
  CUZK_CUDA_LAUNCHED("PlaceKernel");
  return absl::OkStatus();
}

Status MakeTileItems(uint32_t buckets, uint32_t side_log2, const ItemScratch& s, uint32_t* live, StreamView stream) {
  TileItemsKernel<<<Blocks(std::max(2 * buckets, kItemLimit + 2)), kBlock, 0, stream.get()>>>(
      buckets, side_log2, s.sorted.entries, s.ordered_begin, live);
  CUZK_CUDA_LAUNCHED("TileItemsKernel");
  return absl::OkStatus();
}

}  // namespace cuzk::gpu
