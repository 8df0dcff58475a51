#include "gpu/msm/bucket_sort.h"

#include <algorithm>

#include <cub/block/block_scan.cuh>

#include "gpu/msm/points.cuh"

namespace cuzk::gpu {
namespace {

constexpr int kSplitThreads = 256;
constexpr int kCountThreads = 512;
constexpr int kThreads = 1024;           // of the passes that reorder: a block fills a multiprocessor
constexpr uint32_t kMaxTile = 48 << 10;  // terms of one block of the scatter; the place in a tile has 16 bits
constexpr int kMaxBinsLog2 = 12;
constexpr int kMaxFineLog2 = 12;
constexpr int kPerThread = (1 << kMaxBinsLog2) / kThreads;  // counters
static_assert(kMaxFineLog2 == kMaxBinsLog2);
using Scan = cub::BlockScan<uint32_t, kThreads>;

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

/// split[word * n + i]. 32 bytes read, 32 written a scalar.
__global__ void SplitKernel(const FrD* scalars, uint32_t n, OffsetWords offset, uint32_t* split, uint32_t* signs) {
  uint32_t i = blockIdx.x * kSplitThreads + threadIdx.x;
  bool larger = false;
  if (i < n) {
    uint32_t k[8], negated[8], r[8], difference[8];
    LoadConst(scalars + i).ToCanonical(k);
    detail::Words32<algebra::FrParams>::Modulus(r);
    Sub(r, k, negated);
    larger = Sub(negated, k, difference) != 0;  // r - k < k
#pragma unroll
    for (int j = 0; j < 8; ++j) k[j] = larger ? negated[j] : k[j];
    Add(k, offset.v, k);
#pragma unroll
    for (int j = 0; j < 8; ++j) split[static_cast<uint64_t>(j) * n + i] = k[j];
  }
  uint32_t word = __ballot_sync(0xffffffffu, larger);
  if (threadIdx.x % 32 == 0 && i < n) signs[i / 32] = word;
}

/// What the passes over one group of windows share; passed by value.
struct Pass {
  const uint32_t* split;
  const uint32_t* signs;
  uint32_t n;
  Windows windows;
  int group;  // its first window
  int bins_log2;
  uint32_t tile;      // terms of one block of the scatter
  uint32_t capacity;  // entries of a bin that a block orders in shared memory
  IndexMap map;
  BinnedEntry* binned;
  uint32_t *bin_begin, *bin_end;

  CUZK_DEVICE uint32_t FirstBin(int w) const { return static_cast<uint32_t>(w - group) << bins_log2; }
  /// Buckets of one bin.
  CUZK_DEVICE int FineLog2(int w) const { return windows.Bits(w) - 1 - bins_log2; }
};

/// The digits of one window.
struct DigitReader {
  const uint32_t *low, *high, *signs;  // high: null where one word holds the digit
  int shift, bits;

  CUZK_DEVICE DigitReader(const Pass& p, int w) : signs(p.signs), bits(p.windows.Bits(w)) {
    int offset = p.windows.Offset(w), word = offset / 32;
    shift = offset % 32;
    low = p.split + static_cast<uint64_t>(word) * p.n;
    high = word < 7 && shift + bits > 32 ? low + p.n : nullptr;
  }
  /// |digit| of term i, and the sign of its point in bit 31.
  CUZK_DEVICE uint32_t At(uint32_t i) const {
    uint32_t field = __funnelshift_r(__ldg(low + i), high != nullptr ? __ldg(high + i) : 0, shift);
    int32_t digit = static_cast<int32_t>(field & ((1u << bits) - 1)) - (1 << (bits - 1));
    uint32_t sign = (__ldg(signs + i / 32) >> (i % 32)) << 31;
    return digit < 0 ? static_cast<uint32_t>(-digit) | (sign ^ kNegative) : static_cast<uint32_t>(digit) | sign;
  }
};

/// One more in `counters`[bin] for every thread that calls it with `live`; how many there were before. All threads of
/// the warp call it. Where all have the same bin, which is what the scalars of an uneven witness do, one adds for all.
CUZK_DEVICE uint32_t Rank(uint32_t* counters, uint32_t bin, bool live) {
  uint32_t key = live ? bin : ~0u;
  bool same = __all_sync(0xffffffffu, key == __shfl_sync(0xffffffffu, key, 0));
  if (!same) return live ? atomicAdd(counters + bin, 1) : 0;
  if (!live) return 0;
  uint32_t lane = threadIdx.x % 32, before = 0;
  if (lane == 0) before = atomicAdd(counters + bin, 32);
  return __shfl_sync(0xffffffffu, before, 0) + lane;
}

/// Block (tiles, window of the group): adds the tiles' entries to bin_end.
__global__ void __launch_bounds__(kCountThreads) CountKernel(Pass p) {
  __shared__ uint32_t bins[1 << kMaxBinsLog2];
  int w = p.group + static_cast<int>(blockIdx.y), fine_log2 = p.FineLog2(w);
  for (uint32_t b = threadIdx.x; b >> p.bins_log2 == 0; b += kCountThreads) bins[b] = 0;
  __syncthreads();
  DigitReader digits(p, w);
#pragma unroll 4
  for (uint64_t base = static_cast<uint64_t>(blockIdx.x) * kCountThreads; base < p.n;
       base += static_cast<uint64_t>(gridDim.x) * kCountThreads) {
    uint64_t i = base + threadIdx.x;
    uint32_t magnitude = i < p.n ? digits.At(static_cast<uint32_t>(i)) & ~kNegative : 0;
    Rank(bins, (magnitude - 1) >> fine_log2, magnitude != 0);
  }
  __syncthreads();
  uint32_t* out = p.bin_end + p.FirstBin(w);
  for (uint32_t b = threadIdx.x; b >> p.bins_log2 == 0; b += kCountThreads) {
    if (bins[b] != 0) atomicAdd(out + b, bins[b]);
  }
}

/// One block: bin_begin = what is before each bin of the group, bin_end the same, to be moved on by the scatter.
/// bin_begin[bins] is the number of entries.
__global__ void __launch_bounds__(kThreads) BinScanKernel(uint32_t* bin_begin, uint32_t* bin_end, uint32_t bins) {
  __shared__ typename Scan::TempStorage storage;
  uint32_t before = 0;
  for (uint32_t base = 0; base < bins; base += kThreads) {
    uint32_t b = base + threadIdx.x, count = b < bins ? bin_end[b] : 0, prefix, total;
    Scan(storage).ExclusiveSum(count, prefix, total);
    if (b < bins) {
      bin_begin[b] = before + prefix;
      bin_end[b] = before + prefix;
    }
    before += total;
    __syncthreads();
  }
  if (threadIdx.x == 0) bin_begin[bins] = before;
}

CUZK_DEVICE uint32_t PointOf(const IndexMap& map, uint32_t i) {
  if (map.kind == IndexMap::Kind::kList) return __ldg(map.list + i);
  if (map.kind == IndexMap::Kind::kReversed) return __brev(i) >> (32 - map.log2_size);
  return i;
}

/// An entry of a tile in shared memory: place in the tile, sign in bit 16, bucket of the bin above it.
constexpr int kTileSignBit = 16;

/// Dynamic shared memory: this, then the entries of the tile; before those are written, the scan's scratch.
struct ScatterShared {
  uint32_t cursor[1 << kMaxBinsLog2];  // where a bin's next entry goes; in the end, where the bin ends
  uint32_t offset[1 << kMaxBinsLog2];  // from there to the place among all entries, modulo 2^32

  CUZK_DEVICE uint32_t* entries() { return reinterpret_cast<uint32_t*>(this + 1); }
  CUZK_DEVICE Scan::TempStorage& scan() { return *reinterpret_cast<Scan::TempStorage*>(this + 1); }
};

/// Of a thread's share of all counters: what they count, and what all counters before each do. The whole block calls
/// it.
CUZK_DEVICE void ScanCounters(const uint32_t* counters, Scan::TempStorage& scratch, uint32_t (&counts)[kPerThread],
                              uint32_t (&places)[kPerThread]) {
#pragma unroll
  for (int j = 0; j < kPerThread; ++j) counts[j] = counters[threadIdx.x * kPerThread + j];
  Scan(scratch).ExclusiveSum(counts, places);
}

/// Counts to places within the tile, and room for the tile in every bin.
CUZK_DEVICE void TakeRoom(const Pass& p, uint32_t* global_cursors, ScatterShared& s) {
  uint32_t counts[kPerThread], places[kPerThread];
  ScanCounters(s.cursor, s.scan(), counts, places);
#pragma unroll
  for (int j = 0; j < kPerThread; ++j) {
    uint32_t b = threadIdx.x * kPerThread + j;
    s.cursor[b] = places[j];
    if (counts[j] != 0) s.offset[b] = atomicAdd(global_cursors + b, counts[j]) - places[j];
  }
}

/// Block (tile, window of the group): the tile's entries to their bins. bin_end ends where the bin does.
__global__ void __launch_bounds__(kThreads) ScatterKernel(Pass p) {
  extern __shared__ uint4 shared[];
  ScatterShared& s = *reinterpret_cast<ScatterShared*>(shared);
  int w = p.group + static_cast<int>(blockIdx.y), fine_log2 = p.FineLog2(w);
  for (uint32_t b = threadIdx.x; b < 1 << kMaxBinsLog2; b += kThreads) s.cursor[b] = 0;
  __syncthreads();
  DigitReader digits(p, w);
  uint32_t base = blockIdx.x * p.tile, size = min(p.n - base, p.tile), rounds = (size + kThreads - 1) / kThreads;
#pragma unroll 8
  for (uint32_t k = 0; k < rounds; ++k) {
    uint32_t i = k * kThreads + threadIdx.x;
    uint32_t magnitude = i < size ? digits.At(base + i) & ~kNegative : 0;
    Rank(s.cursor, (magnitude - 1) >> fine_log2, magnitude != 0);
  }
  __syncthreads();
  TakeRoom(p, p.bin_end + p.FirstBin(w), s);
  __syncthreads();
  uint32_t fine_mask = (1u << fine_log2) - 1;
#pragma unroll 8
  for (uint32_t k = 0; k < rounds; ++k) {
    uint32_t i = k * kThreads + threadIdx.x;
    uint32_t digit = i < size ? digits.At(base + i) : 0, bucket = (digit & ~kNegative) - 1;
    bool live = (digit & ~kNegative) != 0;
    uint32_t to = Rank(s.cursor, bucket >> fine_log2, live);
    if (live) s.entries()[to] = i | (digit >> 31) << kTileSignBit | (bucket & fine_mask) << (kTileSignBit + 1);
  }
  __syncthreads();
  // Half a warp for each bin: the runs are about that long where there are most bins.
  uint32_t lane = threadIdx.x % 16;
  for (uint32_t b = threadIdx.x / 16; b >> p.bins_log2 == 0; b += kThreads / 16) {
    uint32_t end = s.cursor[b], offset = s.offset[b];
    for (uint32_t j = (b == 0 ? 0 : s.cursor[b - 1]) + lane; j < end; j += 16) {
      uint32_t entry = s.entries()[j], i = base + (entry & ((1u << kTileSignBit) - 1));
      uint32_t sign = (entry >> kTileSignBit) << 31;
      reinterpret_cast<uint2*>(p.binned)[offset + j] = {PointOf(p.map, i) | sign, entry >> (kTileSignBit + 1)};
    }
  }
}

/// The same of a block that orders a bin.
struct BucketShared {
  uint32_t cursor[1 << kMaxFineLog2];

  CUZK_DEVICE uint32_t* entries() { return reinterpret_cast<uint32_t*>(this + 1); }
  CUZK_DEVICE Scan::TempStorage& scan() { return *reinterpret_cast<Scan::TempStorage*>(this + 1); }
};

/// Counts of the bin's buckets to places within the bin, and where each bucket begins and ends.
CUZK_DEVICE void PlaceBuckets(BucketShared& s, const SortedEntries& sorted, uint32_t begin, uint32_t bucket,
                              uint32_t buckets) {
  uint32_t counts[kPerThread], places[kPerThread];
  ScanCounters(s.cursor, s.scan(), counts, places);
#pragma unroll
  for (int j = 0; j < kPerThread; ++j) {
    uint32_t f = threadIdx.x * kPerThread + j;
    s.cursor[f] = places[j];
    if (f >= buckets) continue;
    sorted.begin[bucket + f] = begin + places[j];
    sorted.end[bucket + f] = begin + places[j] + counts[j];
  }
}

/// Block (bin, window of the group). `entry_base` is where the group's entries begin, `bucket_base` its first bucket.
/// Bins above the capacity, which only uneven scalars have, are written entry by entry.
__global__ void __launch_bounds__(kThreads)
    BucketKernel(Pass p, SortedEntries sorted, uint32_t entry_base, uint32_t bucket_base) {
  extern __shared__ uint4 shared[];
  BucketShared& s = *reinterpret_cast<BucketShared*>(shared);
  int w = p.group + static_cast<int>(blockIdx.y), fine_log2 = p.FineLog2(w);
  uint32_t bin = p.FirstBin(w) + blockIdx.x, begin = p.bin_begin[bin], size = p.bin_begin[bin + 1] - begin;
  uint32_t bucket =
      bucket_base + p.windows.BucketsBelow(w) - p.windows.BucketsBelow(p.group) + (blockIdx.x << fine_log2);
  const uint2* binned = reinterpret_cast<const uint2*>(p.binned) + begin;
  begin += entry_base;
  for (uint32_t i = threadIdx.x; i < 1 << kMaxFineLog2; i += kThreads) s.cursor[i] = 0;
  __syncthreads();
  uint32_t rounds = (size + kThreads - 1) / kThreads;
#pragma unroll 8
  for (uint32_t k = 0; k < rounds; ++k) {
    uint32_t i = k * kThreads + threadIdx.x;
    Rank(s.cursor, i < size ? binned[i].y : 0, i < size);
  }
  __syncthreads();
  PlaceBuckets(s, sorted, begin, bucket, 1u << fine_log2);
  __syncthreads();
  bool staged = size <= p.capacity;
  uint32_t* to = staged ? s.entries() : sorted.entries + begin;
#pragma unroll 8
  for (uint32_t k = 0; k < rounds; ++k) {
    uint32_t i = k * kThreads + threadIdx.x;
    uint2 entry = i < size ? binned[i] : uint2{};
    uint32_t rank = Rank(s.cursor, entry.y, i < size);
    if (i < size) to[rank] = entry.x;
  }
  if (!staged) return;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < size; i += kThreads) sorted.entries[begin + i] = s.entries()[i];
}

}  // namespace

SortPlan SortPlan::For(const MsmPlan& plan) {
  SortPlan sort;
  auto words = [&](size_t taken) {
    return static_cast<uint32_t>((plan.shared_bytes - taken) / 4 / kThreads * kThreads);
  };
  static_assert(sizeof(ScatterShared) == kScatterFixed && sizeof(BucketShared) == kOrderFixed);
  sort.tile = std::min(words(kScatterFixed), kMaxTile);
  sort.capacity = words(kOrderFixed);
  sort.group = static_cast<int>(std::clamp<uint64_t>((1u << 25) / plan.terms, 1, plan.batch));
  // Bins that a block can hold where scalars are random; smaller ones in small sums, for enough blocks.
  int size_log2 = std::clamp(Log2(static_cast<uint64_t>(plan.terms) * plan.batch / 1024 + 1), 10, Log2(sort.capacity));
  int bins_log2 = plan.terms > 1 ? Log2(plan.terms - 1) + 1 - size_log2 : 0, buckets_log2 = plan.windows.width - 1;
  int least = std::max(0, buckets_log2 + 1 - kMaxFineLog2);
  sort.bins_log2 = std::clamp(bins_log2, least, std::max(least, std::min(kMaxBinsLog2, buckets_log2)));
  return sort;
}

Status SplitScalars(const MsmPlan& plan, const algebra::Fr* scalars, const SortScratch& s, StreamView stream) {
  SplitKernel<<<(plan.terms + kSplitThreads - 1) / kSplitThreads, kSplitThreads, 0, stream.get()>>>(
      reinterpret_cast<const FrD*>(scalars), plan.terms, OffsetOf(plan.windows), s.split, s.signs);
  CUZK_CUDA_LAUNCHED("SplitKernel");
  return absl::OkStatus();
}

Status SortIntoBuckets(const MsmPlan& plan, int first, int count, const IndexMap& map, const SortScratch& s,
                       const SortedEntries& sorted, StreamView stream) {
  cudaStream_t on = stream.get();
  SortPlan sort = SortPlan::For(plan);
  uint32_t tiles = (plan.terms - 1) / sort.tile + 1;
  const Windows& windows = plan.windows;
  const size_t scatter_bytes = sort.ScatterBytes(), bucket_bytes = sort.OrderBytes();
  CUZK_CUDA(cudaFuncSetAttribute(ScatterKernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(scatter_bytes)));
  CUZK_CUDA(
      cudaFuncSetAttribute(BucketKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bucket_bytes)));
  for (int w = first; w < first + count; w += sort.group) {
    uint32_t group = static_cast<uint32_t>(std::min(sort.group, first + count - w)), bins = 1u << sort.bins_log2;
    Pass p{s.split,   s.signs,       plan.terms, windows,  w,           sort.bins_log2,
           sort.tile, sort.capacity, map,        s.binned, s.bin_begin, s.bin_end};
    CUZK_CUDA(cudaMemsetAsync(s.bin_end, 0, group * bins * sizeof(uint32_t), on));
    CountKernel<<<dim3(std::min(tiles * 8, 1024u), group), kCountThreads, 0, on>>>(p);
    CUZK_CUDA_LAUNCHED("CountKernel");
    BinScanKernel<<<1, kThreads, 0, on>>>(s.bin_begin, s.bin_end, group * bins);
    CUZK_CUDA_LAUNCHED("BinScanKernel");
    ScatterKernel<<<dim3(tiles, group), kThreads, scatter_bytes, on>>>(p);
    CUZK_CUDA_LAUNCHED("ScatterKernel");
    BucketKernel<<<dim3(bins, group), kThreads, bucket_bytes, on>>>(
        p, sorted, static_cast<uint32_t>(w - first) * plan.terms,
        windows.BucketsBelow(w) - windows.BucketsBelow(first));
    CUZK_CUDA_LAUNCHED("BucketKernel");
  }
  return absl::OkStatus();
}

}  // namespace cuzk::gpu
