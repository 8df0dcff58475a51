#pragma once
// The sequence of kernels of one multi-exponentiation; instantiated once for each group.

#include <algorithm>
#include <cmath>

#include "gpu/msm/accumulate.cuh"
#include "gpu/msm/enqueue_rounds.cuh"
#include "gpu/msm/msm.h"
#include "gpu/msm/tiles.cuh"

namespace cuzk::gpu {

/// With windows of 3 bits the highest digit could overflow: |k| < 0.906 * 2^254, and 0.906 * 4 + 0.53 > 4.
inline constexpr int kMaxWindows = 63;

template <class D>
struct MsmScratch {
  ItemScratch items;
  Xyzz<D>* sums = nullptr;  // XYZZ form
  Rounds<D> rounds{};       // affine form, as are the next two
  Affine<D>* buckets = nullptr;
  uint32_t* tile_live = nullptr;
  Xyzz<D>* plain;
  Xyzz<D>* weighted;
  Xyzz<D>* results;
};

inline void LayOutSort(const MsmPlan& plan, SortScratch& s, Arena& arena, uint32_t* split) {
  SortPlan sort = SortPlan::For(plan);
  uint32_t bins = sort.MaxBins();
  s.split = split != nullptr ? split : arena.Take<uint32_t>(8ull * plan.terms);
  s.signs = arena.Take<uint32_t>((plan.terms + 31ull) / 32);
  s.binned = arena.Take<BinnedEntry>(static_cast<uint64_t>(sort.group) * plan.terms);
  s.bin_begin = arena.Take<uint32_t>(bins + 1ull);
  s.bin_end = arena.Take<uint32_t>(bins);
}

template <class D>
MsmScratch<D> LayOut(const MsmPlan& plan, size_t scan_bytes, Arena& arena, uint32_t* split = nullptr) {
  MsmScratch<D> s{};
  uint64_t buckets = plan.BatchBuckets(), items = plan.MaxItems();
  // In the affine form the entries and items of buckets are followed by those of tiles, in the same place.
  uint64_t lines = plan.affine ? 2 * (buckets >> plan.side_log2) : 0, most = std::max(items, lines);
  uint64_t entries = std::max(static_cast<uint64_t>(plan.batch) * plan.terms, plan.affine ? 2 * buckets : 0);
  ItemScratch& i = s.items;
  LayOutSort(plan, i.sort, arena, split);
  i.sorted.entries = arena.Take<uint32_t>(entries + 1);  // rounds read one ahead
  i.sorted.begin = arena.Take<uint32_t>(buckets);
  i.sorted.end = arena.Take<uint32_t>(buckets);
  i.item_base = arena.Take<uint32_t>(buckets + 1);
  i.item_begin = arena.Take<uint32_t>(items);
  i.item_place = arena.Take<uint32_t>(items);
  i.item_size = arena.Take<uint8_t>(items);
  i.ordered_begin = arena.Take<uint32_t>(most);
  i.ordered_size = arena.Take<uint8_t>(items);
  i.live = arena.Take<uint32_t>(kItemLimit + 2);
  i.cursor = arena.Take<uint32_t>(kItemLimit + 2);
  i.heavy = arena.Take<uint32_t>(1 + kMaxHeavy);
  i.scan_scratch = arena.Take<std::byte>(scan_bytes);
  i.scan_bytes = scan_bytes;
  if (plan.affine) {
    LayOutRounds(most, plan.processors, s.rounds, arena);
    s.buckets = arena.Take<Affine<D>>(buckets);
    s.tile_live = arena.Take<uint32_t>(kItemLimit + 2);
  } else {
    s.sums = arena.Take<Xyzz<D>>(items);
  }
  s.plain = arena.Take<Xyzz<D>>(buckets / plan.segment);
  s.weighted = arena.Take<Xyzz<D>>(buckets / plan.segment);
  s.results = arena.Take<Xyzz<D>>(static_cast<size_t>(plan.windows.count) * kResultSlots);
  return s;
}

inline MsmPlan PlanFor(uint32_t terms, int windows, bool affine) {
  MsmPlan plan;
  plan.terms = terms;
  plan.windows = Windows::OfCount(windows);
  plan.batch = windows;
  plan.affine = affine;
  uint32_t buckets = plan.windows.BucketsBelow(windows), narrow = 1u << (plan.windows.width - 1);
  if (affine) {
    // Four deviations: a bucket in thirty thousand of random scalars is cut.
    double load = static_cast<double>(terms) / narrow;
    plan.item_limit = static_cast<uint32_t>(std::clamp(load + 4 * std::sqrt(load) + 2, 12.0, double{kItemLimit}));
    plan.side_log2 = buckets >= 1u << 23 ? 5 : buckets >= 1u << 21 ? 4 : 3;
    while (2 * plan.side_log2 > static_cast<uint32_t>(plan.windows.width - 1)) --plan.side_log2;
    plan.segment = 1u << 2 * plan.side_log2;
    return plan;
  }
  plan.item_limit = kXyzzItemLimit;
  plan.segment = 4;
  while (plan.segment < 512 && buckets / (2 * plan.segment) >= 50000) plan.segment *= 2;
  plan.segment = std::min(plan.segment, narrow);
  return plan;
}

template <class F>
StatusOr<MsmPlan> PlanMsm(const prover::CardLimits& card, uint32_t terms, uint64_t memory, MsmForm form) {
  using D = typename DeviceFieldOf<F>::Type;
  if (terms == 0 || terms >= 1u << 31) return absl::InvalidArgumentError("a sum of no terms, or of 2^31 or more");
  const bool affine = form == MsmForm::kAffine || (form == MsmForm::kBest && terms >= 1u << 20);
  MsmPlan best;
  double best_cost = 0;
  uint64_t least = ~uint64_t{0};
  for (int windows = 11; windows <= kMaxWindows; ++windows) {
    MsmPlan plan = PlanFor(terms, windows, affine);
    plan.shared_bytes = card.shared_block_bytes;
    plan.processors = std::max(card.multiprocessors, 1u);
    if (plan.windows.Bits(0) > 24) continue;
    for (int parts = 1; parts <= windows; ++parts) {
      plan.batch = (windows + parts - 1) / parts;
      if (static_cast<uint64_t>(plan.batch) * terms >= 0xfffffff0ull) continue;
      Arena counting;
      LayOut<D>(plan, ScanScratchBytes(plan), counting);
      plan.bytes = counting.used();
      least = std::min(least, plan.bytes);
      if (plan.bytes <= memory) {
        double cost = EstimateProducts(plan) + parts * 1e6;
        if (best.batch == 0 || cost < best_cost) {
          best = plan;
          best_cost = cost;
        }
        break;
      }
    }
  }
  if (best.batch == 0) {
    return absl::ResourceExhaustedError(StrCat("a sum of ", terms, " terms needs at least ", least,
                                               " bytes of scratch on the device; there are ", memory));
  }
  return best;
}

template <class D, class Sums>
Status EnqueueHeavy(const MsmScratch<D>& s, const Sums& sums, StreamView stream) {
  HeavyKernel<D><<<512, kSumThreads, kSumThreads * sizeof(Xyzz<D>), stream.get()>>>(
      sums, s.items.heavy, s.items.item_base, s.items.item_place);
  CUZK_CUDA_LAUNCHED("HeavyKernel");
  return absl::OkStatus();
}

constexpr uint32_t SumBlocks(uint64_t threads) {
  return static_cast<uint32_t>((threads + kSumThreads - 1) / kSumThreads);
}

/// Items to `plain` and `weighted`, a segment each.
template <class D>
Status EnqueueXyzz(const MsmPlan& plan, const MsmScratch<D>& s, uint32_t buckets, StreamView stream) {
  cudaStream_t on = stream.get();
  const ItemScratch& i = s.items;
  XyzzSums<D> sums{s.sums};
  XyzzKernel<D><<<std::min(SumBlocks(plan.MaxItems()), 1u << 20), kSumThreads, 0, on>>>(
      s.rounds.points, i.sorted.entries, i.live, i.ordered_begin, i.ordered_size, s.sums);
  CUZK_CUDA_LAUNCHED("XyzzKernel");
  CUZK_RETURN_IF_ERROR(EnqueueHeavy(s, sums, stream));
  uint32_t segments = buckets / plan.segment;
  SegmentKernel<D><<<SumBlocks(segments), kSumThreads, 0, on>>>(sums, i.item_base, i.item_place, segments, plan.segment,
                                                                s.plain, s.weighted);
  CUZK_CUDA_LAUNCHED("SegmentKernel");
  return absl::OkStatus();
}

/// Points of an item that rounds add: of random scalars about a quarter of the threads that run at a time have an item
/// with more.
template <class D>
uint32_t RoundsOf(const MsmPlan& plan) {
  const double load = static_cast<double>(plan.terms) / plan.windows.Buckets(plan.windows.count - 1);
  const double threads = plan.processors * kRoundBlocks<D> * kRoundThreads;
  const double share = std::min(threads / (4.0 * plan.BatchBuckets()), 0.25);
  // By the tail of the normal distribution, roughly.
  const double deviations = std::sqrt(-2 * std::log(share)) - 0.7;
  return static_cast<uint32_t>(std::clamp(load + deviations * std::sqrt(load) + 1, 2.0, double(plan.item_limit)));
}

/// The same in the affine form.
template <class D>
Status EnqueueAffine(const MsmPlan& plan, const MsmScratch<D>& s, uint32_t buckets, StreamView stream) {
  cudaStream_t on = stream.get();
  const ItemScratch& i = s.items;
  CUZK_RETURN_IF_ERROR(EnqueueRounds(s.rounds, plan.MaxItems(), RoundsOf<D>(plan), plan.processors, stream));
  CUZK_RETURN_IF_ERROR(EnqueueHeavy(s, s.rounds.sums, stream));
  CollectKernel<D>
      <<<SumBlocks(buckets), kSumThreads, 0, on>>>(s.rounds.sums, i.item_base, i.item_place, buckets, s.buckets);
  CUZK_CUDA_LAUNCHED("CollectKernel");
  CUZK_RETURN_IF_ERROR(MakeTileItems(buckets, plan.side_log2, i, s.tile_live, stream));
  Rounds<D> lines = s.rounds;
  lines.points = s.buckets;
  lines.live = s.tile_live;
  const uint64_t line_items = 2ull * (buckets >> plan.side_log2);
  CUZK_RETURN_IF_ERROR(EnqueueRounds(lines, line_items, 1u << plan.side_log2, plan.processors, stream));
  uint32_t tiles = buckets / plan.segment;
  TileKernel<D><<<SumBlocks(2ull * tiles), kSumThreads, kSumThreads / 2 * sizeof(Xyzz<D>), on>>>(
      s.rounds.sums, tiles, plan.side_log2, s.plain, s.weighted);
  CUZK_CUDA_LAUNCHED("TileKernel");
  return absl::OkStatus();
}

template <class D>
Status EnqueueWindows(const MsmPlan& plan, const MsmScratch<D>& s, int first, int count, StreamView stream) {
  int slots = 1;
  while (plan.windows.Buckets(first) / plan.segment >> slots != 0) ++slots;
  WindowKernel<D><<<dim3(slots, count), kSumThreads, kSumThreads * sizeof(Xyzz<D>), stream.get()>>>(
      s.plain, s.weighted, plan.windows, first, plan.segment, s.results);
  CUZK_CUDA_LAUNCHED("WindowKernel");
  return absl::OkStatus();
}

template <class F>
Status EnqueueMsm(const MsmPlan& plan, const algebra::AffinePoint<F>* points, const algebra::Fr* scalars,
                  const IndexMap& map, Arena arena, algebra::XyzzPoint<F>* results, StreamView stream,
                  uint32_t* split) {
  using D = typename DeviceFieldOf<F>::Type;
  MsmScratch<D> s = LayOut<D>(plan, ScanScratchBytes(plan), arena, split);
  if (arena.overrun())
    return absl::ResourceExhaustedError("the scratch of a multi-exponentiation is smaller than its plan");
  s.rounds.points = reinterpret_cast<const Affine<D>*>(points);
  s.rounds.entries = s.items.sorted.entries;
  s.rounds.begin = s.items.ordered_begin;
  s.rounds.live = s.items.live;
  CUZK_RETURN_IF_ERROR(SplitScalars(plan, scalars, s.items.sort, stream));
  for (int first = 0; first < plan.windows.count; first += plan.batch) {
    int count = std::min(plan.batch, plan.windows.count - first);
    uint32_t buckets = plan.windows.BucketsBelow(first + count) - plan.windows.BucketsBelow(first);
    CUZK_RETURN_IF_ERROR(MakeItems(plan, first, count, map, s.items, stream));
    CUZK_RETURN_IF_ERROR(plan.affine ? EnqueueAffine(plan, s, buckets, stream) : EnqueueXyzz(plan, s, buckets, stream));
    CUZK_RETURN_IF_ERROR(EnqueueWindows(plan, s, first, count, stream));
  }
  CUZK_CUDA(cudaMemcpyAsync(results, s.results, MsmResultPoints(plan) * sizeof(Xyzz<D>), cudaMemcpyDeviceToHost,
                            stream.get()));
  return absl::OkStatus();
}

}  // namespace cuzk::gpu
