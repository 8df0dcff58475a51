#pragma once
// Sums of items, in two forms.
//
// XYZZ: a thread per item, items in order of size so that a warp's lanes end together. 8M + 2S an addition.
//
// Affine with shared inversions: in round j every item of more than j points adds its j-th point to its own affine sum,
// so that all additions of a round are independent and share one inversion (Montgomery's trick): 5M + 1S an addition.
//   threads   T = grid * 128; thread t owns items t, t + T, t + 2T, ...; live items are a prefix of the order
//   kernel j  walks its items against the direction of kernel j - 1 through that one's prefix products, finishes
//   addition j,
//             at once builds the denominator of addition j + 1 and its prefix product
//   inversion each block multiplies its threads' products in a tree; one block inverts the blocks' products
//   memory    sums and prefixes in 16-byte planes (coalesced); points gathered whole, 96 bytes; per addition 435 bytes
//   read,
//             142 written in G1
//   shared    operands of a thread's next addition, 288 bytes in G1, come by cp.async while it computes, and its
//   running
//             products, 96 bytes, are kept there: 48 KB a block
//   registers 168 in G1, without spills: 3 blocks of 128 threads an SM (with 128 registers and 4 blocks a tenth slower:
//             spilled words miss the first-level cache, of which the slots leave little); 255 in G2: 2 blocks

#include "gpu/field/inverse.cuh"
#include "gpu/msm/items.h"
#include "gpu/msm/sums.cuh"

namespace cuzk::gpu {

inline constexpr int kRoundThreads = 128;
/// Blocks of a round on one multiprocessor.
template <class F>
inline constexpr int kRoundBlocks = sizeof(F) == 48 ? 3 : 2;
inline constexpr int kInvertThreads = 1024;  // at most as many blocks in a round

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

/// State of the affine form; passed by value.
template <class F>
struct Rounds {
  const Affine<F>* points;
  const uint32_t* entries;
  const uint32_t* begin;
  const uint32_t* live;
  AffineSums<F> sums;
  AffineSums<F> prefix;  // only coordinate 0
  F* nodes;              // 2 * kRoundThreads a block: its tree of products
  F* totals;             // a block's product, and after InvertKernel its inverse
};

CUZK_DEVICE bool MaybeZero(const FpD& x) { return x.w[0] == 0; }
CUZK_DEVICE bool MaybeZero(const Fp2D& x) { return (x.c0.w[0] | x.c1.w[0]) == 0; }

/// What the two special cases divide by: twice y for a doubling, one where nothing is divided. Points with x = 0 are no
/// points of the groups, so x = 0 means infinity.
template <class F>
__device__ __noinline__ F SpecialDenominator(Affine<F> a, Affine<F> p) {
  if (a.x.IsZero() || p.x.IsZero()) return F::One();
  F d = p.x - a.x;
  if (!d.IsZero()) return d;
  if (a.y == p.y && !a.y.IsZero()) return a.y.Double();
  return F::One();
}
/// a + p, where `inverse` is 1/SpecialDenominator.
template <class F>
__device__ __noinline__ Affine<F> SpecialSum(Affine<F> a, Affine<F> p, F inverse) {
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

/// Multiplies the threads' products up a tree in shared memory and leaves tree and total in global memory.
template <class F>
CUZK_DEVICE void ClimbTree(const Rounds<F>& s, F* shared, const F& product) {
  Store(shared + kRoundThreads + threadIdx.x, product);
  for (uint32_t level = kRoundThreads / 2; level > 0; level /= 2) {
    __syncthreads();
    if (threadIdx.x < level) {
      uint32_t node = level + threadIdx.x;
      Store(shared + node, Load(shared + 2 * node) * Load(shared + 2 * node + 1));
    }
  }
  __syncthreads();
  F* nodes = s.nodes + static_cast<uint64_t>(blockIdx.x) * 2 * kRoundThreads;
  Store(nodes + threadIdx.x, Load(shared + threadIdx.x));
  Store(nodes + kRoundThreads + threadIdx.x, Load(shared + kRoundThreads + threadIdx.x));
  if (threadIdx.x == 0) Store(s.totals + blockIdx.x, Load(shared + 1));
}

/// The inverse of this thread's product of the previous kernel.
template <class F>
CUZK_DEVICE F DescendTree(const Rounds<F>& s, F* shared) {
  const F* nodes = s.nodes + static_cast<uint64_t>(blockIdx.x) * 2 * kRoundThreads;
  Store(shared + threadIdx.x, Load(nodes + threadIdx.x));
  Store(shared + kRoundThreads + threadIdx.x, Load(nodes + kRoundThreads + threadIdx.x));
  __syncthreads();
  if (threadIdx.x == 0) Store(shared + 1, Load(s.totals + blockIdx.x));
  for (uint32_t level = 2; level <= kRoundThreads; level *= 2) {
    __syncthreads();
    F value;
    uint32_t node = level + threadIdx.x;
    if (threadIdx.x < level) value = Load(shared + node / 2) * Load(shared + (node ^ 1));
    __syncthreads();
    if (threadIdx.x < level) Store(shared + node, value);
  }
  __syncthreads();
  F r = Load(shared + kRoundThreads + threadIdx.x);
  __syncthreads();
  return r;
}

/// A thread's operands of one addition, fetched ahead into its own slots of shared memory while the addition before is
/// computed: [plane][thread], 16 bytes each.
template <class F>
struct Slots {
  static constexpr int kPlanes = sizeof(F) / 16;
  /// The last two are the thread's running products, which have no room in registers.
  enum Operand { kSumX, kSumY, kPointX, kPointY, kPrefix, kFollowingX, kInverse, kProduct, kOperands };
  static constexpr size_t kBytes = static_cast<size_t>(kOperands) * kPlanes * kRoundThreads * 16;
  uint4* words;

  CUZK_DEVICE uint4* At(int operand, int plane) const {
    return words + (operand * kPlanes + plane) * kRoundThreads + threadIdx.x;
  }
  static CUZK_DEVICE void Copy(uint4* to, const uint4* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(from)
                 : "memory");
  }
  CUZK_DEVICE void FetchPlanes(int operand, const AffineSums<F>& from, int coordinate, uint32_t place) const {
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) {
      Copy(At(operand, i), from.planes + (coordinate * kPlanes + i) * from.capacity + place);
    }
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

/// The operands of the addition to item q that are used up by its first three products; `entry` is its point.
template <class F>
CUZK_DEVICE void FetchEarly(const Rounds<F>& s, const Slots<F>& slots, uint32_t q, uint32_t entry) {
  const Affine<F>* point = s.points + (entry & ~kNegative);
  slots.FetchElement(Slots<F>::kPointX, &point->x);
  slots.FetchElement(Slots<F>::kPointY, &point->y);
  slots.FetchPlanes(Slots<F>::kPrefix, s.prefix, 0, q);
}
/// Those that are needed to its end; `following` is the point after, whose x is fetched where it will be added.
template <class F>
CUZK_DEVICE void FetchLate(const Rounds<F>& s, const Slots<F>& slots, uint32_t q, uint32_t following, bool goes_on) {
  slots.FetchPlanes(Slots<F>::kSumX, s.sums, 0, q);
  slots.FetchPlanes(Slots<F>::kSumY, s.sums, 1, q);
  if (goes_on) slots.FetchElement(Slots<F>::kFollowingX, &s.points[following & ~kNegative].x);
}
CUZK_DEVICE void AwaitFetches() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// Round 0: sums become the first points, and the first denominators are built.
template <class F>
__global__ void __launch_bounds__(kRoundThreads, sizeof(F) == 48 ? 4 : 2) FirstRoundKernel(const Rounds<F> s) {
  extern __shared__ uint4 shared[];
  uint32_t live = s.live[0], next = s.live[1];
  if (live == 0) return;
  uint32_t threads = gridDim.x * kRoundThreads;
  F product = F::One();
  for (uint64_t q = blockIdx.x * kRoundThreads + threadIdx.x; q < live; q += threads) {
    uint32_t at = s.begin[q];
    Affine<F> sum = LoadEntry(s.points, s.entries[at]);
    s.sums.StorePoint(q, sum);
    if (q >= next) continue;
    uint32_t entry = s.entries[at + 1];
    F x = LoadConst(&s.points[entry & ~kNegative].x);
    F d = x - sum.x;
    if (MaybeZero(d) || MaybeZero(sum.x) || MaybeZero(x)) d = SpecialDenominator<F>(sum, LoadEntry(s.points, entry));
    s.prefix.StoreCoordinate(0, q, product);
    product = product * d;
  }
  if (next > 0) ClimbTree(s, reinterpret_cast<F*>(shared), product);
}

/// Round j > 0: see above. Odd rounds go downwards, even ones upwards.
template <class F>
__global__ void __launch_bounds__(kRoundThreads, kRoundBlocks<F>) RoundKernel(const Rounds<F> s, uint32_t round) {
  extern __shared__ uint4 shared[];
  uint32_t live = s.live[round], next = s.live[round + 1];
  if (live == 0) return;
  uint32_t t = blockIdx.x * kRoundThreads + threadIdx.x, threads = gridDim.x * kRoundThreads;
  uint32_t count = live > t ? (live - 1 - t) / threads + 1 : 0;
  Slots<F> slots{shared};
  {
    F inverse = DescendTree(s, reinterpret_cast<F*>(shared));
    slots.Write(Slots<F>::kInverse, inverse);
    slots.Write(Slots<F>::kProduct, F::One());
  }
  auto item = [&](uint32_t k) {
    k = min(k, count - 1);
    return t + (round % 2 == 0 ? k : count - 1 - k) * threads;
  };
  // Loads run ahead: operands of the next addition by copies in two lots, each as soon as its slots are read for the
  // last time; the entries of the next item and the place of those of the one after it in registers.
  uint32_t q = 0, now = 0, following = 0, next_now = 0, next_following = 0, place = 0;
  if (count > 0) {
    q = item(0);
    uint32_t at = __ldg(s.begin + q) + round, next_at = __ldg(s.begin + item(1)) + round;
    place = __ldg(s.begin + item(2)) + round;
    now = __ldg(s.entries + at);
    following = __ldg(s.entries + at + 1);
    next_now = __ldg(s.entries + next_at);
    next_following = __ldg(s.entries + next_at + 1);
    FetchEarly(s, slots, q, now);
    FetchLate(s, slots, q, following, q < next);
  }
#pragma unroll 1
  for (uint32_t k = 0; k < count; ++k) {
    AwaitFetches();
    F d, slope, both_x;
    Affine<F> sum;
    bool special;
    {
      F ax = slots.Read(Slots<F>::kSumX), px = slots.Read(Slots<F>::kPointX);
      d = px - ax;
      special = MaybeZero(d) || MaybeZero(ax) || MaybeZero(px);
      both_x = ax + px;
    }
    if (special) {
      Affine<F> a{slots.Read(Slots<F>::kSumX), slots.Read(Slots<F>::kSumY)}, p = LoadEntry(s.points, now);
      d = SpecialDenominator<F>(a, p);
      F inverse = slots.Read(Slots<F>::kInverse);
      sum = SpecialSum<F>(a, p, inverse * slots.Read(Slots<F>::kPrefix));
      slots.Write(Slots<F>::kInverse, inverse * d);
    } else {
      slope = slots.Read(Slots<F>::kInverse) * slots.Read(Slots<F>::kPrefix);
      slots.Write(Slots<F>::kInverse, slots.Read(Slots<F>::kInverse) * d);
      d = slots.Read(Slots<F>::kPointY);
      if (now & kNegative) d = -d;
      d = d - slots.Read(Slots<F>::kSumY);
    }
    uint32_t done = q, entry = following;
    q = item(k + 1);
    now = next_now;
    following = next_following;
    if (k + 1 < count) FetchEarly(s, slots, q, now);
    next_now = __ldg(s.entries + place);
    next_following = __ldg(s.entries + place + 1);
    place = __ldg(s.begin + item(k + 3)) + round;
    if (!special) {
      slope = d * slope;
      sum.x = slope.Square() - both_x;
      sum.y = slope * (slots.Read(Slots<F>::kSumX) - sum.x) - slots.Read(Slots<F>::kSumY);
    }
    s.sums.StorePoint(done, sum);
    F e;
    bool goes_on = done < next;
    if (goes_on) {
      F x = slots.Read(Slots<F>::kFollowingX);
      e = x - sum.x;
      if (MaybeZero(e) || MaybeZero(sum.x) || MaybeZero(x)) e = SpecialDenominator<F>(sum, LoadEntry(s.points, entry));
    }
    if (k + 1 < count) FetchLate(s, slots, q, following, q < next);
    if (goes_on) {
      F product = slots.Read(Slots<F>::kProduct);
      s.prefix.StoreCoordinate(0, done, product);
      slots.Write(Slots<F>::kProduct, product * e);
    }
  }
  if (next > 0) {
    F product = slots.Read(Slots<F>::kProduct);
    __syncthreads();
    ClimbTree(s, reinterpret_cast<F*>(shared), product);
  }
}

/// Inverts the totals of `blocks` <= 1024 blocks in place. One block; a tree of products in 2 * 1024 nodes of global
/// memory (it stays in the first-level cache), one inversion, and down again.
template <class F>
__global__ void __launch_bounds__(kInvertThreads)
    InvertKernel(const uint32_t* live, uint32_t round, F* totals, uint32_t blocks, F* nodes) {
  if (live[round] == 0) return;
  uint32_t i = threadIdx.x;
  Store(nodes + kInvertThreads + i, i < blocks ? Load(totals + i) : F::One());
  for (uint32_t level = kInvertThreads / 2; level > 0; level /= 2) {
    __syncthreads();
    if (i < level) Store(nodes + level + i, Load(nodes + 2 * (level + i)) * Load(nodes + 2 * (level + i) + 1));
  }
  __syncthreads();
  if (i == 0) Store(nodes + 1, Load(nodes + 1).Inverse());
  for (uint32_t level = 2; level <= kInvertThreads; level *= 2) {
    __syncthreads();
    F value;
    uint32_t node = level + i;
    if (i < level) value = Load(nodes + node / 2) * Load(nodes + (node ^ 1));
    __syncthreads();
    if (i < level) Store(nodes + node, value);
  }
  __syncthreads();
  if (i < blocks) Store(totals + i, Load(nodes + kInvertThreads + i));
}

}  // namespace cuzk::gpu
