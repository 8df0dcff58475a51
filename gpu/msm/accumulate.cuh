#pragma once
// Sums of items, in two forms.
//
// XYZZ: a thread per item, items in order of size so that a warp's lanes end together. 8M + 2S an addition.
//
// Affine with shared inversions: in round j every item of more than j points adds its j-th point to its own affine sum,
// so that all additions of a round are independent and share one inversion (Montgomery's trick): 5M + 1S an addition.
//   threads   T = grid * 128; thread t owns items t, t + T, t + 2T, ...; live items are a prefix of the order
//   round j   walks the thread's items against the direction of round j - 1 through that one's prefix products,
//             finishes addition j, at once builds the denominator of addition j + 1 and its prefix product
//   inversion each block by itself: its threads' products in a tree, one inversion on one thread. Nothing is shared
//             between blocks, so that all rounds are one kernel and the blocks of a multiprocessor drift apart: while
//             one inverts, the others multiply
//   memory    sums and prefixes in 16-byte planes (coalesced); points gathered whole, 96 bytes; in G1 an addition reads
//             435 bytes and writes 142
//   shared    operands of a thread's next addition come by cp.async while it computes, as do the entries of the one
//             after it, and its running products are kept there: 50.5 KB a block in G1
//   registers 128 in G1: 4 blocks of 128 threads an SM; 255 in G2: 2 blocks

#include "gpu/field/inverse.cuh"
#include "gpu/msm/items.h"
#include "gpu/msm/lazy.cuh"
#include "gpu/msm/sums.cuh"

namespace cuzk::gpu {

inline constexpr int kRoundThreads = 128;
/// Blocks of rounds on one multiprocessor.
template <class F>
inline constexpr int kRoundBlocks = sizeof(F) == 48 ? 4 : 2;

template <class F>
__global__ void __launch_bounds__(128, sizeof(F) == 48 ? 4 : 2)
    XyzzKernel(const Affine<F>* points, const uint32_t* entries, const uint32_t* live, const uint32_t* begin,
               const uint8_t* size, Xyzz<F>* sums) {
  uint32_t items = live[0];
  for (uint64_t q = blockIdx.x * 128ull + threadIdx.x; q < items; q += gridDim.x * 128ull) {
    uint32_t from = begin[q], count = size[q];
    Affine<F> p = LoadEntry(points, entries[from]);
    Xyzz<F> sum = p.IsInfinity() ? Xyzz<F>::Infinity() : Xyzz<F>{p.x, p.y, F::One(), F::One()};
    for (uint32_t i = 1; i < count; ++i) AddTo(sum, LoadEntry(points, entries[from + i]));
    Store(sums + q, sum);
  }
}

/// What the affine form works on; passed by value.
template <class F>
struct Rounds {
  const Affine<F>* points;
  const uint32_t* entries;
  const uint32_t* begin;
  const uint32_t* live;
  AffineSums<F> sums;
};

/// A thread's operands of one addition, fetched ahead into its own slots of shared memory while the addition before is
/// computed: [plane][thread], 16 bytes each.
template <class F>
struct Slots {
  static constexpr int kPlanes = sizeof(F) / 16;
  /// The last two are the thread's running products, which have no room in registers. The first two are free between
  /// rounds.
  enum Operand { kMinusX, kMinusY, kPointX, kPointY, kPrefix, kFollowingX, kInverse, kProduct, kOperands };
  /// Beside them, one word each: the entries of two additions, and the place of the entries of a third.
  enum Index { kEntry = 0, kFollowing = 2, kPlace = 4, kIndices = 5 };
  static constexpr size_t kOperandWords = static_cast<size_t>(kOperands) * kPlanes * kRoundThreads;
  static constexpr size_t kBytes = kOperandWords * 16 + kIndices * kRoundThreads * 4;
  uint4* words;

  CUZK_DEVICE uint4* At(int operand, int plane) const {
    return words + (operand * kPlanes + plane) * kRoundThreads + threadIdx.x;
  }
  CUZK_DEVICE uint32_t* IndexAt(int index) const {
    return reinterpret_cast<uint32_t*>(words + kOperandWords) + index * kRoundThreads + threadIdx.x;
  }
  CUZK_DEVICE void FetchIndex(int index, const uint32_t* from) const {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                     static_cast<uint32_t>(__cvta_generic_to_shared(IndexAt(index)))),
                 "l"(from)
                 : "memory");
  }
  static CUZK_DEVICE void Copy(uint4* to, const uint4* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(from)
                 : "memory");
  }
  /// `from` is where the item's words are.
  CUZK_DEVICE void FetchPlanes(int operand, const uint4* from, int coordinate) const {
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) Copy(At(operand, i), from + AffineSums<F>::Offset(coordinate, i));
  }
  CUZK_DEVICE void FetchElement(int operand, const F* from) const {
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) Copy(At(operand, i), reinterpret_cast<const uint4*>(from) + i);
  }
  CUZK_DEVICE void Write(int operand, const F& value) const {
    const uint4* from = reinterpret_cast<const uint4*>(&value);
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) *At(operand, i) = from[i];
  }
  CUZK_DEVICE F Read(int operand) const {
    F r;
    uint4* to = reinterpret_cast<uint4*>(&r);
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) to[i] = *At(operand, i);
    return r;
  }
};

/// What the special cases of a + p divide by: twice y for a doubling, one where nothing is divided. Points with x = 0
/// are no points of the groups, so x = 0 means infinity.
template <class F>
CUZK_DEVICE F SpecialDenominator(const Affine<F>& a, const Affine<F>& p) {
  if (a.x.IsZero() || p.x.IsZero()) return F::One();
  F d = p.x - a.x;
  if (!d.IsZero()) return d;
  if (a.y == p.y && !a.y.IsZero()) return a.y.Double();
  return F::One();
}
/// a + p, where `inverse` is 1/SpecialDenominator.
template <class F>
CUZK_DEVICE Affine<F> SpecialSum(const Affine<F>& a, const Affine<F>& p, const F& inverse) {
  if (a.x.IsZero()) return p;
  if (p.x.IsZero()) return a;
  F numerator;
  if (p.x == a.x) {
    if (!(a.y == p.y) || a.y.IsZero()) return Affine<F>::Infinity();
    F xx = a.x.Square();
    numerator = xx.Double() + xx;
  } else {
    numerator = p.y - a.y;
  }
  return algebra::formulas::AddWithSlope(a, p.x, numerator * inverse);
}

/// The denominator of the addition of `entry` to the sum at `at`, whatever they are, into the slot of the following x.
/// Out of line and without elements as arguments, as is the next, so that the common path keeps its registers.
template <class F>
__device__ __noinline__ void WriteSpecialDenominator(Slots<F> slots, const uint4* at, const Affine<F>* points,
                                                     uint32_t entry) {
  using Sums = AffineSums<F>;
  Affine<F> a =
      AdditionSteps<F>::Canonical(Sums::LoadCoordinate(at, Sums::kMinusX), Sums::LoadCoordinate(at, Sums::kMinusY));
  slots.Write(Slots<F>::kFollowingX, SpecialDenominator<F>(a, LoadEntry(points, entry)));
}
/// Adds `entry` to the sum in the slots, whatever they are, and moves the running inverse on.
template <class F>
__device__ __noinline__ void AddSpecial(Slots<F> slots, const Affine<F>* points, uint32_t entry) {
  using S = Slots<F>;
  Affine<F> a = AdditionSteps<F>::Canonical(slots.Read(S::kMinusX), slots.Read(S::kMinusY));
  Affine<F> p = LoadEntry(points, entry);
  F inverse = slots.Read(S::kInverse);
  Affine<F> sum = SpecialSum<F>(a, p, inverse * slots.Read(S::kPrefix));
  slots.Write(S::kInverse, inverse * SpecialDenominator<F>(a, p));
  slots.Write(S::kMinusX, -sum.x);
  slots.Write(S::kMinusY, -sum.y);
}

/// The operands of an addition that are used up first; `entry` is its point, `at` its item.
template <class F>
CUZK_DEVICE void FetchEarly(const Rounds<F>& s, const Slots<F>& slots, const uint4* at, uint32_t entry) {
  const Affine<F>* point = s.points + (entry & ~kNegative);
  slots.FetchElement(Slots<F>::kPointX, &point->x);
  slots.FetchElement(Slots<F>::kPointY, &point->y);
  slots.FetchPlanes(Slots<F>::kPrefix, at, AffineSums<F>::kPrefix);
}
/// Those that are needed to its end; `following` is the point after, whose x is fetched where it will be added.
template <class F>
CUZK_DEVICE void FetchLate(const Rounds<F>& s, const Slots<F>& slots, const uint4* at, uint32_t following,
                           bool goes_on) {
  slots.FetchPlanes(Slots<F>::kMinusX, at, AffineSums<F>::kMinusX);
  slots.FetchPlanes(Slots<F>::kMinusY, at, AffineSums<F>::kMinusY);
  if (goes_on) slots.FetchElement(Slots<F>::kFollowingX, &s.points[following & ~kNegative].x);
}
CUZK_DEVICE void AwaitFetches() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// Turns every thread's product into its inverse: up a tree in shared memory, one inversion, and down again. The whole
/// block calls it. What threads wrote to global memory before is there for their copies after.
template <class F>
__device__ __noinline__ void InvertProducts(Slots<F> slots) {
  F* tree = reinterpret_cast<F*>(slots.words);
  __threadfence();
  __syncthreads();
  Store(tree + kRoundThreads + threadIdx.x, slots.Read(Slots<F>::kProduct));
#pragma unroll 1
  for (uint32_t level = kRoundThreads / 2; level > 0; level /= 2) {
    __syncthreads();
    if (threadIdx.x < level) {
      uint32_t node = level + threadIdx.x;
      Store(tree + node, Load(tree + 2 * node) * Load(tree + 2 * node + 1));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) Store(tree + 1, Load(tree + 1).Inverse());
#pragma unroll 1
  for (uint32_t level = 2; level <= kRoundThreads; level *= 2) {
    __syncthreads();
    F value;
    uint32_t node = level + threadIdx.x;
    if (threadIdx.x < level) value = Load(tree + node / 2) * Load(tree + (node ^ 1));
    __syncthreads();
    if (threadIdx.x < level) Store(tree + node, value);
  }
  __syncthreads();
  slots.Write(Slots<F>::kInverse, Load(tree + kRoundThreads + threadIdx.x));
  slots.Write(Slots<F>::kProduct, F::One());
  __syncthreads();
}

/// Round 0: sums become the first points, and the first denominators are built.
template <class F>
CUZK_DEVICE void FirstRound(const Rounds<F>& s, const Slots<F>& slots) {
  using Steps = AdditionSteps<F>;
  uint32_t live = s.live[0], next = s.live[1], threads = gridDim.x * kRoundThreads;
  F product = F::One();
#pragma unroll 1
  for (uint64_t q = blockIdx.x * kRoundThreads + threadIdx.x; q < live; q += threads) {
    uint32_t at = s.begin[q];
    Affine<F> sum = LoadEntry(s.points, s.entries[at]);
    sum = {-sum.x, -sum.y};
    uint4* words = s.sums.At(q);
    s.sums.StoreCoordinate(words, AffineSums<F>::kMinusX, sum.x);
    s.sums.StoreCoordinate(words, AffineSums<F>::kMinusY, sum.y);
    if (q >= next) continue;
    uint32_t entry = s.entries[at + 1];
    F x = LoadConst(&s.points[entry & ~kNegative].x);
    F d = Steps::Denominator(x, sum.x);
    if (Steps::MaybeZero(d) || Steps::MaybeInfinity(sum.x) || Steps::MaybeInfinity(x)) {
      WriteSpecialDenominator<F>(slots, words, s.points, entry);
      d = slots.Read(Slots<F>::kFollowingX);
    }
    s.sums.StoreCoordinate(words, AffineSums<F>::kPrefix, product);
    product = Steps::Product(product, d);
  }
  slots.Write(Slots<F>::kProduct, product);
}

/// Fetches the two entries of an addition, of which the second is the point after.
template <class F>
CUZK_DEVICE void FetchEntries(const Rounds<F>& s, const Slots<F>& slots, int parity, uint32_t place) {
  slots.FetchIndex(Slots<F>::kEntry + parity, s.entries + place);
  slots.FetchIndex(Slots<F>::kFollowing + parity, s.entries + place + 1);
}

/// Round j > 0: see above. Odd rounds go downwards, even ones upwards.
template <class F>
CUZK_DEVICE void AddRound(const Rounds<F>& s, const Slots<F>& slots, uint32_t round, uint32_t live, uint32_t next) {
  using Steps = AdditionSteps<F>;
  using S = Slots<F>;
  uint32_t t = blockIdx.x * kRoundThreads + threadIdx.x, threads = gridDim.x * kRoundThreads;
  if (t >= live) return;
  uint32_t left = (live - 1 - t) / threads + 1;
  uint32_t q = round % 2 == 0 ? t : t + (left - 1) * threads;
  uint32_t step = round % 2 == 0 ? threads : 0 - threads;
  // Loads run ahead, all of them copies to the thread's slots: while item k is worked on, the operands of item k + 1 in
  // two lots, each as soon as its slots are read for the last time, the entries of item k + 2, and where those of item
  // k + 3 are. Entries have two places in turn, by the parity of what is left.
  {
    uint32_t place = s.begin[q] + round;
    FetchEntries(s, slots, left & 1, place);
    if (left > 1) FetchEntries(s, slots, ~left & 1, s.begin[q + step] + round);
    if (left > 2) slots.FetchIndex(S::kPlace, s.begin + (q + 2 * step));
    AwaitFetches();
    FetchEarly(s, slots, s.sums.At(q), *slots.IndexAt(S::kEntry + (left & 1)));
    FetchLate(s, slots, s.sums.At(q), *slots.IndexAt(S::kFollowing + (left & 1)), q < next);
  }
#pragma unroll 1
  for (; left > 0; --left) {
    AwaitFetches();
    F slope, minus_x, minus_y;
    bool special;
    {
      F px = slots.Read(S::kPointX), sum_x = slots.Read(S::kMinusX), inverse = slots.Read(S::kInverse);
      F d = Steps::Denominator(px, sum_x);
      special = Steps::MaybeZero(d) || Steps::MaybeInfinity(px) || Steps::MaybeInfinity(sum_x);
      if (!special) {
        slope = Steps::Product(inverse, slots.Read(S::kPrefix));
        slots.Write(S::kInverse, Steps::Product(inverse, d));
        bool negative = (*slots.IndexAt(S::kEntry + (left & 1)) & kNegative) != 0;
        slope = Steps::Product(slope, Steps::Numerator(slots.Read(S::kPointY), negative, slots.Read(S::kMinusY)));
        minus_x = Steps::MinusX(slots.Read(S::kPointX), slots.Read(S::kMinusX), Steps::Square(slope));
      }
    }
    if (special) {
      AddSpecial<F>(slots, s.points, *slots.IndexAt(S::kEntry + (left & 1)));
      minus_x = slots.Read(S::kMinusX);
    }
    if (left > 1) FetchEarly(s, slots, s.sums.At(q + step), *slots.IndexAt(S::kEntry + (~left & 1)));
    if (left > 2) FetchEntries(s, slots, left & 1, *slots.IndexAt(S::kPlace) + round);
    if (left > 3) slots.FetchIndex(S::kPlace, s.begin + (q + 3 * step));
    if (special) {
      minus_y = slots.Read(S::kMinusY);
    } else {
      minus_y =
          Steps::MinusY(Steps::Product(slope, Steps::Run(slots.Read(S::kMinusX), minus_x)), slots.Read(S::kMinusY));
    }
    uint4* done = s.sums.At(q);
    s.sums.StoreCoordinate(done, AffineSums<F>::kMinusX, minus_x);
    s.sums.StoreCoordinate(done, AffineSums<F>::kMinusY, minus_y);
    F e;
    bool goes_on = q < next;
    if (goes_on) {
      F x = slots.Read(S::kFollowingX);
      e = Steps::Denominator(x, minus_x);
      if (Steps::MaybeZero(e) || Steps::MaybeInfinity(minus_x) || Steps::MaybeInfinity(x)) {
        WriteSpecialDenominator<F>(slots, done, s.points, s.entries[s.begin[q] + round + 1]);
        e = slots.Read(S::kFollowingX);
      }
    }
    q += step;
    if (left > 1) FetchLate(s, slots, s.sums.At(q), *slots.IndexAt(S::kFollowing + (~left & 1)), q < next);
    if (goes_on) {
      F product = slots.Read(S::kProduct);
      s.sums.StoreCoordinate(done, AffineSums<F>::kPrefix, product);
      slots.Write(S::kProduct, Steps::Product(product, e));
    }
  }
}

/// All rounds of the items that the block owns.
template <class F>
__global__ void __launch_bounds__(kRoundThreads, kRoundBlocks<F>) RoundsKernel(const Rounds<F> s, uint32_t rounds) {
  extern __shared__ uint4 shared[];
  Slots<F> slots{shared};
  FirstRound(s, slots);
#pragma unroll 1
  for (uint32_t round = 1; round < rounds; ++round) {
    uint32_t live = s.live[round];
    if (live <= blockIdx.x * kRoundThreads) return;
    InvertProducts(slots);
    AddRound(s, slots, round, live, s.live[round + 1]);
  }
}

}  // namespace cuzk::gpu
