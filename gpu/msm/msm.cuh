#pragma once
// The sequence of kernels of one multi-exponentiation; instantiated once for each group.

#include <algorithm>
#include <cmath>

#include "gpu/msm/accumulate.cuh"
#include "gpu/msm/msm.h"
#include "gpu/msm/reduce.cuh"

namespace cuzk::gpu {

/// The device's field of a host field.
template <class F>
struct DeviceFieldOf;
template <>
struct DeviceFieldOf<algebra::Fp> {
  using Type = FpD;
};
template <>
struct DeviceFieldOf<algebra::Fp2> {
  using Type = Fp2D;
};

/// With windows of 3 bits the highest digit could overflow: |k| < 0.906 * 2^254, and 0.906 * 4 + 0.53 > 4.
inline constexpr int kMaxWindows = 63;

/// Blocks that keep every multiprocessor busy.
struct Grid {
  uint32_t processors = 0;
  static StatusOr<Grid> OfCurrentDevice() {
    int device = 0, count = 0;
    CUZK_CUDA(cudaGetDevice(&device));
    CUZK_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
    return Grid{static_cast<uint32_t>(count)};
  }
};

template <class D>
struct MsmScratch {
  ItemScratch items;
  Xyzz<D>* sums = nullptr;  // XYZZ form
  Rounds<D> rounds{};       // affine form
  Xyzz<D>* plain;
  Xyzz<D>* weighted;
  Xyzz<D>* results;
};

template <class D>
MsmScratch<D> LayOut(const MsmPlan& plan, size_t sort_bytes, Arena& arena) {
  MsmScratch<D> s{};
  uint64_t sorted = SortedAtATime(plan), buckets = plan.BatchBuckets(), items = plan.MaxItems();
  ItemScratch& i = s.items;
  i.split = arena.Take<uint32_t>(8ull * plan.terms);
  for (int k = 0; k < 2; ++k) {
    i.keys[k] = arena.Take<uint32_t>(sorted);
    i.values[k] = arena.Take<uint32_t>(sorted);
  }
  i.entries = arena.Take<uint32_t>(static_cast<uint64_t>(plan.batch) * plan.terms + 1);  // rounds read one ahead
  i.begin = arena.Take<uint32_t>(buckets);
  i.end = arena.Take<uint32_t>(buckets);
  i.item_base = arena.Take<uint32_t>(buckets + 1);
  i.item_begin = arena.Take<uint32_t>(items);
  i.item_place = arena.Take<uint32_t>(items);
  i.item_size = arena.Take<uint8_t>(items);
  i.ordered_begin = arena.Take<uint32_t>(items);
  i.ordered_size = arena.Take<uint8_t>(items);
  i.live = arena.Take<uint32_t>(kItemLimit + 2);
  i.cursor = arena.Take<uint32_t>(kItemLimit + 2);
  i.heavy = arena.Take<uint32_t>(1 + kMaxHeavy);
  i.sort_scratch = arena.Take<std::byte>(sort_bytes);
  i.sort_bytes = sort_bytes;
  if (plan.affine) {
    s.rounds.sums = {arena.Take<uint4>(AffineSums<D>::Words(items))};
  } else {
    s.sums = arena.Take<Xyzz<D>>(items);
  }
  s.plain = arena.Take<Xyzz<D>>(buckets / plan.segment);
  s.weighted = arena.Take<Xyzz<D>>(buckets / plan.segment);
  s.results = arena.Take<Xyzz<D>>(static_cast<size_t>(plan.windows.count) * kResultSlots);
  return s;
}

/// Estimated time in products of the base field, without sorting; what the choice of windows goes by.
inline double EstimateProducts(const MsmPlan& plan) {
  double additions = static_cast<double>(plan.windows.count) * plan.terms;
  double buckets = plan.windows.BucketsBelow(plan.windows.count);
  double sort = additions * 0.65, fixed = plan.affine ? 2e6 * plan.item_limit : 0;
  return additions * (plan.affine ? 6.3 : 10.3) + buckets * (plan.affine ? 26 : 30) + sort + fixed;
}

inline MsmPlan PlanFor(uint32_t terms, int windows, bool affine) {
  MsmPlan plan;
  plan.terms = terms;
  plan.windows = Windows::OfCount(windows);
  plan.batch = windows;
  plan.affine = affine;
  double load = static_cast<double>(terms) / (1u << (plan.windows.width - 1));
  double limit =
      affine ? std::clamp(load + 2 * std::sqrt(load) + 1, 12.0, static_cast<double>(kItemLimit)) : kItemLimit;
  plan.item_limit = static_cast<uint32_t>(limit);
  uint32_t buckets = plan.windows.BucketsBelow(windows), narrow = 1u << (plan.windows.width - 1);
  plan.segment = 4;
  while (plan.segment < 512 && buckets / (2 * plan.segment) >= 50000) plan.segment *= 2;
  plan.segment = std::min(plan.segment, narrow);
  return plan;
}

template <class F>
StatusOr<MsmPlan> PlanMsm(uint32_t terms, uint64_t memory, MsmForm form) {
  using D = typename DeviceFieldOf<F>::Type;
  if (terms == 0 || terms >= 1u << 31) return absl::InvalidArgumentError("a sum of no terms, or of 2^31 or more");
  bool large = terms >= (sizeof(D) == 48 ? 1u << 22 : 1u << 20);
  bool affine = form == MsmForm::kAffine || (form == MsmForm::kBest && large);
  MsmPlan best;
  double best_cost = 0;
  uint64_t least = ~uint64_t{0};
  for (int windows = 11; windows <= kMaxWindows; ++windows) {
    MsmPlan plan = PlanFor(terms, windows, affine);
    if (plan.windows.Bits(0) > 24) continue;
    for (int parts = 1; parts <= windows; ++parts) {
      plan.batch = (windows + parts - 1) / parts;
      if (static_cast<uint64_t>(plan.batch) * terms >= 0xfffffff0ull) continue;
      CUZK_ASSIGN_OR_RETURN(size_t sort_bytes, SortScratchBytes(plan));
      Arena counting;
      LayOut<D>(plan, sort_bytes, counting);
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
Status EnqueueReduction(const MsmPlan& plan, const MsmScratch<D>& s, const Sums& sums, int first, int count,
                        StreamView stream) {
  cudaStream_t on = stream.get();
  constexpr size_t kShared = kSumThreads * sizeof(Xyzz<D>);
  HeavyKernel<D><<<512, kSumThreads, kShared, on>>>(sums, s.items.heavy, s.items.item_base, s.items.item_place);
  CUZK_CUDA_LAUNCHED("HeavyKernel");
  uint32_t buckets = plan.windows.BucketsBelow(first + count) - plan.windows.BucketsBelow(first);
  uint32_t segments = buckets / plan.segment;
  SegmentKernel<D><<<(segments + kSumThreads - 1) / kSumThreads, kSumThreads, 0, on>>>(
      sums, s.items.item_base, s.items.item_place, segments, plan.segment, s.plain, s.weighted);
  CUZK_CUDA_LAUNCHED("SegmentKernel");
  int slots = 1;
  while (plan.windows.Buckets(first) / plan.segment >> slots != 0) ++slots;
  WindowKernel<D><<<dim3(slots, count), kSumThreads, kShared, on>>>(s.plain, s.weighted, plan.windows, first,
                                                                    plan.segment, s.results);
  CUZK_CUDA_LAUNCHED("WindowKernel");
  return absl::OkStatus();
}

template <class D>
Status EnqueueRounds(const MsmPlan& plan, const MsmScratch<D>& s, const Grid& grid, StreamView stream) {
  constexpr size_t kShared = std::max(2 * kRoundThreads * sizeof(D), Slots<D>::kBytes);
  CUZK_CUDA(
      cudaFuncSetAttribute(RoundsKernel<D>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kShared)));
  RoundsKernel<D>
      <<<grid.processors * kRoundBlocks<D>, kRoundThreads, kShared, stream.get()>>>(s.rounds, plan.item_limit);
  CUZK_CUDA_LAUNCHED("RoundsKernel");
  return absl::OkStatus();
}

template <class F>
Status EnqueueMsm(const MsmPlan& plan, const algebra::AffinePoint<F>* points, const algebra::Fr* scalars,
                  const IndexMap& map, Arena arena, algebra::XyzzPoint<F>* results, StreamView stream) {
  using D = typename DeviceFieldOf<F>::Type;
  CUZK_ASSIGN_OR_RETURN(Grid grid, Grid::OfCurrentDevice());
  CUZK_ASSIGN_OR_RETURN(size_t sort_bytes, SortScratchBytes(plan));
  MsmScratch<D> s = LayOut<D>(plan, sort_bytes, arena);
  if (arena.overrun())
    return absl::ResourceExhaustedError("the scratch of a multi-exponentiation is smaller than its plan");
  const auto* device_points = reinterpret_cast<const Affine<D>*>(points);
  s.rounds.points = device_points;
  s.rounds.entries = s.items.entries;
  s.rounds.begin = s.items.ordered_begin;
  s.rounds.live = s.items.live;
  CUZK_RETURN_IF_ERROR(SplitScalars(plan, scalars, s.items, stream));
  for (int first = 0; first < plan.windows.count; first += plan.batch) {
    int count = std::min(plan.batch, plan.windows.count - first);
    CUZK_RETURN_IF_ERROR(MakeItems(plan, first, count, map, s.items, stream));
    if (plan.affine) {
      CUZK_RETURN_IF_ERROR(EnqueueRounds(plan, s, grid, stream));
      CUZK_RETURN_IF_ERROR(EnqueueReduction(plan, s, s.rounds.sums, first, count, stream));
    } else {
      uint32_t blocks = static_cast<uint32_t>(std::min<uint64_t>((plan.MaxItems() + 127) / 128, 1u << 20));
      XyzzKernel<D><<<blocks, 128, 0, stream.get()>>>(device_points, s.items.entries, s.items.live,
                                                      s.items.ordered_begin, s.items.ordered_size, s.sums);
      CUZK_CUDA_LAUNCHED("XyzzKernel");
      CUZK_RETURN_IF_ERROR(EnqueueReduction(plan, s, XyzzSums<D>{s.sums}, first, count, stream));
    }
  }
  CUZK_CUDA(cudaMemcpyAsync(results, s.results, MsmResultPoints(plan) * sizeof(Xyzz<D>), cudaMemcpyDeviceToHost,
                            stream.get()));
  return absl::OkStatus();
}

inline constexpr uint32_t kListBlocks = 1024;

template <class F>
size_t ListSumBytes() {
  return (kListBlocks + 1) * sizeof(algebra::XyzzPoint<F>) + 512;
}

template <class F>
Status EnqueueListSum(const algebra::AffinePoint<F>* points, const uint32_t* list, const uint32_t* count, Arena arena,
                      algebra::XyzzPoint<F>* result, StreamView stream) {
  using D = typename DeviceFieldOf<F>::Type;
  constexpr size_t kShared = kSumThreads * sizeof(Xyzz<D>);
  Xyzz<D>* sums = arena.Take<Xyzz<D>>(kListBlocks);
  Xyzz<D>* total = arena.Take<Xyzz<D>>(1);
  if (arena.overrun()) return absl::ResourceExhaustedError("no scratch for a sum of listed points");
  ListKernel<D><<<kListBlocks, kSumThreads, kShared, stream.get()>>>(reinterpret_cast<const Affine<D>*>(points), list,
                                                                     count, sums);
  CUZK_CUDA_LAUNCHED("ListKernel");
  TotalKernel<D><<<1, kSumThreads, kShared, stream.get()>>>(sums, kListBlocks, total);
  CUZK_CUDA_LAUNCHED("TotalKernel");
  CUZK_CUDA(cudaMemcpyAsync(result, total, sizeof(*total), cudaMemcpyDeviceToHost, stream.get()));
  return absl::OkStatus();
}

}  // namespace cuzk::gpu
