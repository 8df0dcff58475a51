#pragma once
// The kernels of rounds (rounds.cuh) in their order, and the memory that they take.

#include <algorithm>

#include "gpu/msm/msm.h"
#include "gpu/msm/round_kernels.cuh"

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

/// Scratch of rounds over at most `items` items.
template <class D>
void LayOutRounds(uint64_t items, uint32_t processors, Rounds<D>& rounds, Arena& arena) {
  rounds.sums = {arena.Take<uint4>(AffineSums<D>::Words(items))};
  rounds.special = arena.Take<uint32_t>((items + 31) / 32);
  if constexpr (kRoundHalves<D>) {
    const size_t chains = 2ull * processors * kRoundBlocks<D> * kRoundThreads;
    rounds.chains = arena.Take<D>(chains);
    rounds.prefixes = arena.Take<D>(chains);
  }
}

/// Rounds as kernels of two halves, on two streams.
template <class D>
Status EnqueueHalves(const Rounds<D>& work, uint64_t items, uint32_t rounds, uint32_t processors, StreamView stream) {
  constexpr uint32_t kTile = 2 * kRoundThreads;
  // As many blocks as run at a time: each half fills the card, and what its last blocks leave idle the other half
  // takes.
  const auto blocks =
      static_cast<uint32_t>(std::clamp<uint64_t>((items + kTile - 1) / kTile, 1, processors * kRoundBlocks<D>));
  const uint32_t inverters = std::min(blocks, std::max(processors / 2, 1u));
  CUZK_ASSIGN_OR_RETURN(Branch branch, Branch::Create(stream));
  const StreamView streams[] = {stream, branch.view()};
  for (uint32_t half = 0; half < 2; ++half) {
    BeginHalfKernel<D><<<blocks, kRoundThreads, 0, streams[half].get()>>>(work, half);
    CUZK_CUDA_LAUNCHED("BeginHalfKernel");
  }
  for (uint32_t round = 1; round < rounds; ++round) {
    for (uint32_t half = 0; half < 2; ++half) {
      InvertHalfKernel<D><<<inverters, kRoundThreads, 0, streams[half].get()>>>(work, half, round, blocks);
      CUZK_CUDA_LAUNCHED("InvertHalfKernel");
      RoundKernel<D><<<blocks, kRoundThreads, Slots<D>::kBytes, streams[half].get()>>>(work, half, round);
      CUZK_CUDA_LAUNCHED("RoundKernel");
    }
  }
  return branch.Join();
}

/// The sums of at most `items` items: of their first `rounds` points in rounds, of what a few have beyond in XYZZ.
template <class D>
Status EnqueueRounds(const Rounds<D>& work, uint64_t items, uint32_t rounds, uint32_t processors, StreamView stream) {
  const uint32_t blocks = processors * kRoundBlocks<D>;
  CUZK_CUDA(cudaMemsetAsync(work.special, 0, (items + 31) / 32 * sizeof(uint32_t), stream.get()));
  if constexpr (kRoundHalves<D>) {
    CUZK_RETURN_IF_ERROR(EnqueueHalves(work, items, rounds, processors, stream));
  } else {
    RoundsKernel<D><<<blocks, kRoundThreads, Slots<D>::kBytes, stream.get()>>>(work, rounds);
    CUZK_CUDA_LAUNCHED("RoundsKernel");
  }
  LongItemsKernel<D><<<blocks, kRoundThreads, 0, stream.get()>>>(work, rounds);
  CUZK_CUDA_LAUNCHED("LongItemsKernel");
  SpecialItemsKernel<D><<<blocks, kRoundThreads, 0, stream.get()>>>(work);
  CUZK_CUDA_LAUNCHED("SpecialItemsKernel");
  return absl::OkStatus();
}

}  // namespace cuzk::gpu
