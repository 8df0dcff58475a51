#pragma once
// Sums of items in affine coordinates. In round j every item of more than j points adds its j-th point to its own sum,
// so that all additions of a round are independent and share inversions (Montgomery's trick): 5M + 1S an addition.
//
//   chains    a thread owns items at a fixed distance from each other; live items are a prefix of the order. The
//   product
//             of the denominators of its additions of one round is its chain
//   round j   walks the thread's items against the direction of round j - 1 through that one's prefix products,
//             finishes addition j, at once builds the denominator of addition j + 1 and its prefix product
//   G1        two halves of the items, each a sequence of kernels on a stream of its own: a round, then the inversion
//   of
//             its chains. While one half inverts, and where blocks of its round are done early, the other half computes
//   G2        all rounds in one kernel, in which each block inverts its own chains: the two blocks of a multiprocessor
//             take turns, where a kernel between the rounds would find no room beside them
//   memory    sums and prefixes in 16-byte planes (coalesced); points gathered whole; in G1 an addition reads 435 bytes
//             and writes 142
//   loads     in G1 the next point and its prefix product are fetched while the addition before is computed; the
//   entries
//             one addition earlier, and where those are one earlier still
//   shared    a thread's running product and running inverse: 12 KB a block in G1, 24 in G2
//   registers 168 in G1: 3 blocks of 128 threads an SM, which with loads an addition ahead are faster than 4 without;
//             255 in G2: 2 blocks
//   special   what the formula does not cover (a doubling, opposite points, infinity) is not looked at closer: the item
//             is marked, its denominator taken as one, and after the rounds it is summed once more in XYZZ. A test of
//             one word decides; of random points one in 10^9 is marked without need

#include "gpu/field/inverse.cuh"
#include "gpu/msm/lazy.cuh"
#include "gpu/msm/sums.cuh"

namespace cuzk::gpu {

inline constexpr int kRoundThreads = 128;
/// Blocks of rounds on one multiprocessor.
template <class F>
inline constexpr int kRoundBlocks = sizeof(F) == 48 ? 3 : 2;
/// Whether rounds are kernels of two halves.
template <class F>
inline constexpr bool kRoundHalves = sizeof(F) == 48;

/// What the affine form works on; passed by value.
template <class F>
struct Rounds {
  const Affine<F>* points;
  const uint32_t* entries;
  const uint32_t* begin;
  const uint32_t* live;
  AffineSums<F> sums;
  uint32_t* special;  // a bit for each item
  F* chains;          // of halves: products, then their inverses; of both halves, one after the other
  F* prefixes;        // of halves: as many, for the inversion
};

/// The items of a thread.
struct Walk {
  uint32_t first, distance;

  /// Of those below `live`.
  CUZK_DEVICE uint32_t Count(uint32_t live) const { return first < live ? (live - 1 - first) / distance + 1 : 0; }
};

/// A thread's running inverse and product in shared memory, where they leave its registers free: [plane][thread],
/// 16 bytes each. Between rounds the memory is the tree of the block's inversion.
template <class F>
struct Slots {
  static constexpr int kPlanes = sizeof(F) / 16;
  enum Operand { kInverse, kProduct, kOperands };
  static constexpr uint32_t kBytes = static_cast<uint32_t>(kOperands) * kRoundThreads * sizeof(F);
  static_assert(kRoundBlocks<F> * (kBytes + 1024) <= 64 << 10, "fills the multiprocessor of every card");
  uint4* words;

  CUZK_DEVICE uint4* At(int operand, int plane) const {
    return words + (operand * kPlanes + plane) * kRoundThreads + threadIdx.x;
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

/// A coordinate of a sum and one of a point, loaded where the call stands: the compiler neither merges such loads nor
/// moves them past products, so that operands are fetched early and, where registers are short, once more.
template <class F>
CUZK_DEVICE F LoadHere(const uint4* at, int coordinate) {
  F r;
  uint4* to = reinterpret_cast<uint4*>(&r);
#pragma unroll
  for (int i = 0; i < AffineSums<F>::kPlanes; ++i) {
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[i].x), "=r"(to[i].y), "=r"(to[i].z), "=r"(to[i].w)
                 : "l"(at + AffineSums<F>::Offset(coordinate, i))
                 : "memory");
  }
  return r;
}
template <class F>
CUZK_DEVICE F LoadHere(const F* from) {
  F r;
  uint4* to = reinterpret_cast<uint4*>(&r);
  const uint4* source = reinterpret_cast<const uint4*>(from);
#pragma unroll
  for (int i = 0; i < AffineSums<F>::kPlanes; ++i) {
    asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[i].x), "=r"(to[i].y), "=r"(to[i].z), "=r"(to[i].w)
                 : "l"(source + i));
  }
  return r;
}

/// Whether the formula may not cover the addition of a point with `px` to a sum with `minus_x`; d is their denominator.
/// Points with x = 0 are no points of the groups, so x = 0 means infinity.
template <class F>
CUZK_DEVICE bool MaybeSpecial(const F& d, const F& px, const F& minus_x) {
  using Steps = AdditionSteps<F>;
  return Steps::MaybeZero(d) || Steps::MaybeInfinity(px) || Steps::MaybeInfinity(minus_x);
}
/// d, or one in its place. By selection: a branch, though never taken, costs more.
template <class F>
CUZK_DEVICE F OneIf(bool special, const F& d) {
  F r = F::One();
  uint32_t* to = reinterpret_cast<uint32_t*>(&r);
  const uint32_t* from = reinterpret_cast<const uint32_t*>(&d);
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(F) / 4); ++i) to[i] = special ? to[i] : from[i];
  return r;
}
/// The denominator of the addition of a point with `x` to item q's sum; marks the item where it is a special case.
template <class F>
CUZK_DEVICE F NextDenominator(const Rounds<F>& s, uint32_t q, const F& x, const F& minus_x) {
  F d = AdditionSteps<F>::Denominator(x, minus_x);
  bool special = MaybeSpecial(d, x, minus_x);
  if (__builtin_expect(special, 0)) atomicOr(s.special + q / 32, 1u << (q % 32));
  return OneIf(special, d);
}

/// Turns every thread's product into its inverse: up a tree in `tree` (2 * kRoundThreads elements), one inversion, and
/// down again. The whole block calls it; leaves the tree free.
template <class F>
__device__ __noinline__ F InvertInBlock(F* tree, F product) {
  using Steps = AdditionSteps<F>;
  __syncthreads();
  Store(tree + kRoundThreads + threadIdx.x, product);
#pragma unroll 1
  for (uint32_t level = kRoundThreads / 2; level > 0; level /= 2) {
    __syncthreads();
    if (threadIdx.x < level) {
      uint32_t node = level + threadIdx.x;
      Store(tree + node, Steps::Product(Load(tree + 2 * node), Load(tree + 2 * node + 1)));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) Store(tree + 1, Steps::Reduced(Load(tree + 1)).Inverse());
#pragma unroll 1
  for (uint32_t level = 2; level <= kRoundThreads; level *= 2) {
    __syncthreads();
    F value;
    uint32_t node = level + threadIdx.x;
    if (threadIdx.x < level) value = Steps::Product(Load(tree + node / 2), Load(tree + (node ^ 1)));
    __syncthreads();
    if (threadIdx.x < level) Store(tree + node, value);
  }
  __syncthreads();
  F inverse = Load(tree + kRoundThreads + threadIdx.x);
  __syncthreads();
  return inverse;
}

/// Round 0: sums become the first points, and the first denominators are built. Returns their product.
template <class F>
CUZK_DEVICE F BeginItems(const Rounds<F>& s, const Walk& walk) {
  uint32_t live = s.live[0], next = s.live[1];
  F product = F::One();
#pragma unroll 1
  for (uint64_t q = walk.first; q < live; q += walk.distance) {
    uint32_t at = s.begin[q];
    Affine<F> sum = LoadEntry(s.points, s.entries[at]);
    sum = {-sum.x, -sum.y};
    uint4* words = s.sums.At(q);
    s.sums.StoreCoordinate(words, AffineSums<F>::kMinusX, sum.x);
    s.sums.StoreCoordinate(words, AffineSums<F>::kMinusY, sum.y);
    if (q >= next) continue;
    F x = LoadConst(&s.points[s.entries[at + 1] & ~kNegative].x);
    F d = NextDenominator(s, static_cast<uint32_t>(q), x, sum.x);
    s.sums.StoreCoordinate(words, AffineSums<F>::kPrefix, product);
    product = AdditionSteps<F>::Product(product, d);
  }
  return product;
}

/// The entries of a thread's additions, as far ahead as their loads take. Where an item ends, its own point stands for
/// the one after it, so that x can be loaded before it is known whether it is needed.
struct Lookahead {
  uint32_t entry, following;              // of this addition, and the point after it
  uint32_t later_entry, later_following;  // of the next one
  uint32_t later_place;                   // where those of the one after that are

  /// Of `left` items from q on in steps of `step`; those below `next` go on.
  template <class F>
  CUZK_DEVICE Lookahead(const Rounds<F>& s, uint32_t round, uint32_t q, uint32_t step, uint32_t left, uint32_t next) {
    later_place = s.begin[q] + round;
    later_entry = entry = s.entries[later_place];
    later_following = following = q < next ? s.entries[later_place + 1] : entry;
    if (left > 1) ReadLater(s, s.begin[q + step] + round, q + step < next);
    if (left > 2) later_place = s.begin[q + 2 * step] + round;
  }
  /// From item q to the one after it.
  template <class F>
  CUZK_DEVICE void Advance(const Rounds<F>& s, uint32_t round, uint32_t q, uint32_t step, uint32_t left,
                           uint32_t next) {
    entry = later_entry;
    following = later_following;
    if (left > 2) ReadLater(s, later_place, q + 2 * step < next);
    if (left > 3) later_place = s.begin[q + 3 * step] + round;
  }

 private:
  template <class F>
  CUZK_DEVICE void ReadLater(const Rounds<F>& s, uint32_t place, bool goes_on) {
    later_entry = s.entries[place];
    later_following = goes_on ? s.entries[place + 1] : later_entry;
  }
};

/// What an addition needs beside the item's sum.
template <class F>
struct Operands {
  F px, prefix, py;

  static CUZK_DEVICE Operands Load(const Rounds<F>& s, uint32_t q, uint32_t entry) {
    const Affine<F>* point = s.points + (entry & ~kNegative);
    Operands r;
    r.px = LoadHere(&point->x);
    r.prefix = LoadHere<F>(s.sums.At(q), AffineSums<F>::kPrefix);
    r.py = LoadHere(&point->y);
    return r;
  }
};

/// Round j > 0 of the thread's items: see above. Odd rounds go downwards, even ones upwards. The slots hold the inverse
/// of the thread's chain and one, and afterwards the product of its next chain.
template <class F>
CUZK_DEVICE void AddToItems(const Rounds<F>& s, const Slots<F>& slots, const Walk& walk, uint32_t round) {
  using Steps = AdditionSteps<F>;
  using S = Slots<F>;
  using Sums = AffineSums<F>;
  constexpr bool kAhead = kRoundHalves<F>;  // in G2 there are no registers for it, nor to keep what is used twice
  uint32_t left = walk.Count(s.live[round]), next = s.live[round + 1];
  if (left == 0) return;
  uint32_t q = round % 2 == 0 ? walk.first : walk.first + (left - 1) * walk.distance;
  uint32_t step = round % 2 == 0 ? walk.distance : 0 - walk.distance;
  Lookahead ahead(s, round, q, step, left, next);
  Operands<F> later;
  if constexpr (kAhead) later = Operands<F>::Load(s, q, ahead.entry);
#pragma unroll 1
  for (; left > 0; --left) {
    uint4* at = s.sums.At(q);
    const F* following = &s.points[ahead.following & ~kNegative].x;
    const uint32_t entry = ahead.entry;
    Operands<F> now;
    if constexpr (kAhead) {
      now = later;
    } else {
      now = Operands<F>::Load(s, q, entry);
    }
    F minus_x = LoadHere<F>(at, Sums::kMinusX), minus_y = LoadHere<F>(at, Sums::kMinusY), x;
    if constexpr (kAhead) x = LoadHere(following);
    ahead.Advance(s, round, q, step, left, next);
    if constexpr (kAhead) {
      if (left > 1) later = Operands<F>::Load(s, q + step, ahead.entry);
    }
    F inverse = slots.Read(S::kInverse);
    F slope = Steps::Product(inverse, now.prefix);
    F d = Steps::Denominator(now.px, minus_x);
    slots.Write(S::kInverse, Steps::Product(inverse, OneIf(MaybeSpecial(d, now.px, minus_x), d)));
    slope = Steps::Product(slope, Steps::Numerator(now.py, (entry & kNegative) != 0, minus_y));
    if constexpr (!kAhead) {
      now.px = LoadHere(&s.points[entry & ~kNegative].x);
      minus_x = LoadHere<F>(at, Sums::kMinusX);
    }
    F new_minus_x = Steps::MinusX(now.px, minus_x, Steps::Square(slope));
    if constexpr (!kAhead) {
      minus_x = LoadHere<F>(at, Sums::kMinusX);
      minus_y = LoadHere<F>(at, Sums::kMinusY);
    }
    slope = Steps::Product(slope, Steps::Run(minus_x, new_minus_x));
    s.sums.StoreCoordinate(at, Sums::kMinusY, Steps::MinusY(slope, minus_y));
    s.sums.StoreCoordinate(at, Sums::kMinusX, new_minus_x);
    if (q < next) {
      if constexpr (!kAhead) x = LoadHere(following);
      F e = NextDenominator(s, q, x, new_minus_x);
      F product = slots.Read(S::kProduct);
      s.sums.StoreCoordinate(at, Sums::kPrefix, product);
      slots.Write(S::kProduct, Steps::Product(product, e));
    }
    q += step;
  }
}

}  // namespace cuzk::gpu
