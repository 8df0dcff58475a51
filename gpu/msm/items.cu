#include "gpu/msm/items.h"

#include <algorithm>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "gpu/field/device_field.cuh"

namespace cuzk::gpu {
namespace {

constexpr int kBlock = 256;
constexpr uint32_t kSign = 0x80000000u;

struct OffsetWords {
  uint32_t v[8];
};

/// 2^(offset + bits - 1) summed over the windows: what turns signed digits into plain ones.
OffsetWords OffsetOf(const Windows& windows) {
  OffsetWords r{};
  for (int w = 0; w < windows.count; ++w) {
    int bit = windows.Offset(w) + windows.Bits(w) - 1;
    r.v[bit / 32] |= 1u << (bit % 32);
  }
  return r;
}

/// split[word * n + i]; bit 255 says that the scalar was negated. 32 bytes read, 32 written a scalar.
__global__ void SplitKernel(const FrD* scalars, uint32_t n, OffsetWords offset, uint32_t* split) {
  uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  uint32_t k[8], negated[8], r[8];
  LoadConst(scalars + i).ToCanonical(k);
  detail::Words32<algebra::FrParams>::Modulus(r);
  Sub(r, k, negated);
  uint32_t difference[8];
  bool larger = Sub(negated, k, difference) != 0;  // r - k < k
#pragma unroll
  for (int j = 0; j < 8; ++j) k[j] = larger ? negated[j] : k[j];
  Add(k, offset.v, k);
  if (larger) k[7] |= kSign;
#pragma unroll
  for (int j = 0; j < 8; ++j) split[static_cast<uint64_t>(j) * n + i] = k[j];
}

/// keys: |digit|, the window above it when a whole batch is sorted, the sign in bit 31. values: the term.
__global__ void DigitKernel(const uint32_t* split, uint32_t n, Windows windows, int first, int count, int window_shift,
                            uint32_t* keys, uint32_t* values) {
  uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  uint32_t sign = split[7ull * n + i] & kSign;
  for (int w = first; w < first + count; ++w) {
    int offset = windows.Offset(w), bits = windows.Bits(w), word = offset / 32, shift = offset % 32;
    uint64_t two = split[static_cast<uint64_t>(word) * n + i];
    if (word < 7 && shift + bits > 32)
      two |= static_cast<uint64_t>(split[static_cast<uint64_t>(word + 1) * n + i]) << 32;
    int32_t digit = static_cast<int32_t>(static_cast<uint32_t>(two >> shift) & ((1u << bits) - 1)) - (1 << (bits - 1));
    uint32_t magnitude = static_cast<uint32_t>(digit < 0 ? -digit : digit);
    uint64_t at = static_cast<uint64_t>(w - first) * n + i;
    keys[at] = magnitude | (static_cast<uint32_t>(w - first) << window_shift) | (sign ^ (digit < 0 ? kSign : 0));
    values[at] = i;
  }
}

struct BoundaryParams {
  const uint32_t* keys;
  const uint32_t* values;
  uint64_t size;
  uint64_t entry_base;
  Windows windows;
  int first, window, window_shift;  // window < 0: it is in the key
  IndexMap map;
  uint32_t *entries, *begin, *end;
};

/// The bucket of a sorted key, counted from the batch's first; all ones for digit zero.
CUZK_DEVICE uint32_t BucketOf(const BoundaryParams& p, uint32_t key) {
  key &= ~kSign;
  int w = p.window;
  uint32_t magnitude = key;
  if (w < 0) {
    w = p.first + static_cast<int>(key >> p.window_shift);
    magnitude = key & ((1u << p.window_shift) - 1);
  }
  if (magnitude == 0) return 0xffffffffu;
  return p.windows.BucketsBelow(w) - p.windows.BucketsBelow(p.first) + magnitude - 1;
}

/// Finds where buckets begin and end, and writes the entries.
__global__ void BoundaryKernel(BoundaryParams p) {
  uint64_t i = blockIdx.x * static_cast<uint64_t>(kBlock) + threadIdx.x;
  if (i >= p.size) return;
  uint32_t key = p.keys[i], value = p.values[i];
  uint32_t point = value;
  if (p.map.kind == IndexMap::Kind::kList) point = p.map.list[value];
  if (p.map.kind == IndexMap::Kind::kReversed) point = __brev(value) >> (32 - p.map.log2_size);
  p.entries[p.entry_base + i] = point | (key & kSign);
  uint32_t bucket = BucketOf(p, key);
  if (bucket == 0xffffffffu) return;
  if (i == 0 || BucketOf(p, p.keys[i - 1]) != bucket) p.begin[bucket] = static_cast<uint32_t>(p.entry_base + i);
  if (i + 1 == p.size || BucketOf(p, p.keys[i + 1]) != bucket)
    p.end[bucket] = static_cast<uint32_t>(p.entry_base + i + 1);
}

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

/// live[j] = items of more than j points; cursor[s] = place of the first item of s points. One thread.
__global__ void OrderKernel(const uint32_t* histogram, uint32_t* live, uint32_t* cursor) {
  uint32_t longer = 0;
  for (int s = kItemLimit + 1; s >= 0; --s) {
    uint32_t here = s > 0 ? histogram[s] : 0;
    live[s] = longer;
    cursor[s] = longer;
    longer += here;
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

uint32_t Blocks(uint64_t n) { return static_cast<uint32_t>((n + kBlock - 1) / kBlock); }

int WindowLog2(int batch) {
  int bits = 0;
  while ((1 << bits) < batch) ++bits;
  return bits;
}

Status SortPairs(const ItemScratch& s, uint64_t size, int bits, int& current, StreamView stream) {
  cub::DoubleBuffer<uint32_t> keys(s.keys[0], s.keys[1]), values(s.values[0], s.values[1]);
  size_t bytes = s.sort_bytes;
  CUZK_CUDA(cub::DeviceRadixSort::SortPairs(s.sort_scratch, bytes, keys, values, size, 0, bits, stream.get()));
  current = keys.selector;
  return absl::OkStatus();
}

}  // namespace

bool SortsWholeBatch(const MsmPlan& plan) {
  return plan.terms < 1u << 23 && plan.windows.Bits(0) + WindowLog2(plan.batch) < 31;
}

uint64_t SortedAtATime(const MsmPlan& plan) {
  return SortsWholeBatch(plan) ? static_cast<uint64_t>(plan.terms) * plan.batch : plan.terms;
}

StatusOr<size_t> SortScratchBytes(const MsmPlan& plan) {
  size_t sort = 0, scan = 0;
  cub::DoubleBuffer<uint32_t> keys(nullptr, nullptr), values(nullptr, nullptr);
  CUZK_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, sort, keys, values, SortedAtATime(plan), 0, 31));
  uint32_t* counts = nullptr;
  CUZK_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, scan, counts, counts, plan.BatchBuckets() + 1));
  return std::max(sort, scan) + 256;
}

Status SplitScalars(const MsmPlan& plan, const algebra::Fr* scalars, const ItemScratch& s, StreamView stream) {
  SplitKernel<<<Blocks(plan.terms), kBlock, 0, stream.get()>>>(reinterpret_cast<const FrD*>(scalars), plan.terms,
                                                               OffsetOf(plan.windows), s.split);
  CUZK_CUDA_LAUNCHED("SplitKernel");
  return absl::OkStatus();
}

Status MakeItems(const MsmPlan& plan, int first, int count, const IndexMap& map, const ItemScratch& s,
                 StreamView stream) {
  cudaStream_t on = stream.get();
  uint32_t buckets = plan.windows.BucketsBelow(first + count) - plan.windows.BucketsBelow(first);
  CUZK_CUDA(cudaMemsetAsync(s.begin, 0, buckets * sizeof(uint32_t), on));
  CUZK_CUDA(cudaMemsetAsync(s.end, 0, buckets * sizeof(uint32_t), on));
  CUZK_CUDA(cudaMemsetAsync(s.cursor, 0, (kItemLimit + 2) * sizeof(uint32_t), on));
  CUZK_CUDA(cudaMemsetAsync(s.heavy, 0, sizeof(uint32_t), on));
  bool whole = SortsWholeBatch(plan);
  for (int w = first; w < first + count; w += whole ? count : 1) {
    int bits = plan.windows.Bits(w), windows = whole ? count : 1;
    uint64_t size = static_cast<uint64_t>(windows) * plan.terms;
    DigitKernel<<<Blocks(plan.terms), kBlock, 0, on>>>(s.split, plan.terms, plan.windows, w, windows, bits, s.keys[0],
                                                       s.values[0]);
    CUZK_CUDA_LAUNCHED("DigitKernel");
    int current = 0;
    CUZK_RETURN_IF_ERROR(SortPairs(s, size, bits + WindowLog2(windows), current, stream));
    BoundaryParams p{s.keys[current],
                     s.values[current],
                     size,
                     static_cast<uint64_t>(w - first) * plan.terms,
                     plan.windows,
                     first,
                     whole ? -1 : w,
                     bits,
                     map,
                     s.entries,
                     s.begin,
                     s.end};
    BoundaryKernel<<<Blocks(size), kBlock, 0, on>>>(p);
    CUZK_CUDA_LAUNCHED("BoundaryKernel");
  }
  CountKernel<<<Blocks(buckets + 1ull), kBlock, 0, on>>>(s.begin, s.end, buckets, plan.item_limit, s.item_base);
  CUZK_CUDA_LAUNCHED("CountKernel");
  size_t bytes = s.sort_bytes;
  CUZK_CUDA(cub::DeviceScan::ExclusiveSum(s.sort_scratch, bytes, s.item_base, s.item_base, buckets + 1, on));
  CutKernel<<<Blocks(buckets), kBlock, 0, on>>>(s.begin, s.end, s.item_base, buckets, plan.item_limit, s.item_begin,
                                                s.item_size, s.cursor, s.heavy);
  CUZK_CUDA_LAUNCHED("CutKernel");
  OrderKernel<<<1, 1, 0, on>>>(s.cursor, s.live, s.cursor);
  CUZK_CUDA_LAUNCHED("OrderKernel");
  PlaceKernel<<<2048, kBlock, 0, on>>>(s.item_begin, s.item_size, s.live, s.cursor, s.item_place, s.ordered_begin,
                                       s.ordered_size);
  CUZK_CUDA_LAUNCHED("PlaceKernel");
  return absl::OkStatus();
}

}  // namespace cuzk::gpu
