#pragma once
// The kernels of rounds, of all rounds of G2 and of one round of a half of the items of G1, and those of what rounds
// leave out: items with a special case, and the last points of the longest items.

#include "gpu/msm/rounds.cuh"

namespace cuzk::gpu {

/// All rounds of the items that the block owns.
template <class F>
__global__ void __launch_bounds__(kRoundThreads, kRoundBlocks<F>) RoundsKernel(const Rounds<F> s, uint32_t rounds) {
  extern __shared__ uint4 shared[];
  Slots<F> slots{shared};
  Walk walk{blockIdx.x * kRoundThreads + threadIdx.x, gridDim.x * kRoundThreads};
  slots.Write(Slots<F>::kProduct, BeginItems(s, walk));
#pragma unroll 1
  for (uint32_t round = 1; round < rounds; ++round) {
    if (s.live[round] <= blockIdx.x * kRoundThreads) return;
    F inverse = InvertInBlock(reinterpret_cast<F*>(shared), slots.Read(Slots<F>::kProduct));
    slots.Write(Slots<F>::kInverse, inverse);
    slots.Write(Slots<F>::kProduct, F::One());
    AddToItems(s, slots, walk, round);
  }
}

/// Halves take turns in tiles of kRoundThreads items.
CUZK_DEVICE Walk WalkOfHalf(uint32_t half) {
  return {(2 * blockIdx.x + half) * kRoundThreads + threadIdx.x, 2 * gridDim.x * kRoundThreads};
}
/// The chain of a thread of a half.
template <class F>
CUZK_DEVICE F* ChainOf(const Rounds<F>& s, uint32_t half) {
  return s.chains + (half * gridDim.x + blockIdx.x) * kRoundThreads + threadIdx.x;
}

template <class F>
__global__ void __launch_bounds__(kRoundThreads, kRoundBlocks<F>) BeginHalfKernel(const Rounds<F> s, uint32_t half) {
  Store(ChainOf(s, half), BeginItems(s, WalkOfHalf(half)));
}

/// A round j > 0 of a half, whose chains are inverted.
template <class F>
__global__ void __launch_bounds__(kRoundThreads, kRoundBlocks<F>)
    RoundKernel(const Rounds<F> s, uint32_t half, uint32_t round) {
  extern __shared__ uint4 shared[];
  Slots<F> slots{shared};
  Walk walk = WalkOfHalf(half);
  if (walk.first >= s.live[round]) return;
  slots.Write(Slots<F>::kInverse, Load(ChainOf(s, half)));
  slots.Write(Slots<F>::kProduct, F::One());
  AddToItems(s, slots, walk, round);
  Store(ChainOf(s, half), slots.Read(Slots<F>::kProduct));
}

/// Inverts the chains that a round of a half, of `blocks` blocks, will use. A thread takes several chains one after the
/// other, a block inverts the products of its threads.
template <class F>
__global__ void __launch_bounds__(kRoundThreads, kRoundBlocks<F>)
    InvertHalfKernel(const Rounds<F> s, uint32_t half, uint32_t round, uint32_t blocks) {
  __shared__ F tree[2 * kRoundThreads];
  using Steps = AdditionSteps<F>;
  uint32_t live = s.live[round];
  if (live <= half * kRoundThreads) return;
  uint32_t count = min(blocks, (live - half * kRoundThreads - 1) / (2 * kRoundThreads) + 1) * kRoundThreads;
  F *chains = s.chains + half * blocks * kRoundThreads, *prefixes = s.prefixes + half * blocks * kRoundThreads;
  uint32_t first = blockIdx.x * kRoundThreads + threadIdx.x, threads = gridDim.x * kRoundThreads, c = first;
  F product = F::One();
#pragma unroll 1
  for (; c < count; c += threads) {
    Store(prefixes + c, product);
    product = Steps::Product(product, Load(chains + c));
  }
  F inverse = InvertInBlock(tree, product);
#pragma unroll 1
  while (c > first) {
    c -= threads;
    F chain = Load(chains + c);
    Store(chains + c, Steps::Product(inverse, Load(prefixes + c)));
    inverse = Steps::Product(inverse, chain);
  }
}

/// The points from `rounds` on of items that have more, in XYZZ: rounds in which only few items are live take the time
/// of their inversions. A thread per item.
template <class F>
__global__ void __launch_bounds__(kRoundThreads, kRoundBlocks<F>) LongItemsKernel(const Rounds<F> s, uint32_t rounds) {
  uint32_t items = s.live[rounds];
  for (uint32_t q = blockIdx.x * kRoundThreads + threadIdx.x; q < items; q += gridDim.x * kRoundThreads) {
    Xyzz<F> sum = AddMixedCalled<F>(Xyzz<F>::Infinity(), s.sums.LoadPoint(q));
    for (uint32_t j = rounds, at = s.begin[q]; q < s.live[j]; ++j) {
      sum = AddMixedCalled<F>(sum, LoadEntry(s.points, s.entries[at + j]));
    }
    s.sums.Put(q, sum);
  }
}

/// Sums of the items that are marked, in XYZZ: a warp for 32 words of marks, of which nearly all are empty, a lane for
/// each item of a word. Neighbouring words, which empty buckets mark together, go to different warps.
template <class F>
__global__ void __launch_bounds__(kRoundThreads, kRoundBlocks<F>) SpecialItemsKernel(const Rounds<F> s) {
  uint32_t words = (s.live[0] + 31) / 32, lane = threadIdx.x % 32;
  uint32_t warp = (blockIdx.x * kRoundThreads + threadIdx.x) / 32, warps = gridDim.x * kRoundThreads / 32;
  for (uint32_t from = warp; from < words; from += 32 * warps) {
    uint64_t mine = from + static_cast<uint64_t>(lane) * warps;
    uint32_t marks = mine < words ? s.special[mine] : 0;
    for (uint32_t lanes = __ballot_sync(0xffffffffu, marks != 0); lanes != 0; lanes &= lanes - 1) {
      int source = __ffs(static_cast<int>(lanes)) - 1;
      uint32_t word = from + static_cast<uint32_t>(source) * warps;
      if ((__shfl_sync(0xffffffffu, marks, source) >> lane & 1) == 0) continue;
      uint32_t q = 32 * word + lane, at = s.begin[q];
      Xyzz<F> sum = Xyzz<F>::Infinity();
      for (uint32_t j = 0; q < s.live[j]; ++j) sum = AddMixedCalled<F>(sum, LoadEntry(s.points, s.entries[at + j]));
      s.sums.Put(q, sum);
    }
  }
}

}  // namespace cuzk::gpu
