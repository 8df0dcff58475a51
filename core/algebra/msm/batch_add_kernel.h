#pragma once
// Affine additions eight at a time, over the lanes of fp_lanes.h or fp_lanes_fma.h, which the including file names
// first.
//
// Coordinates are used as they lie in memory, which in the lanes' Montgomery form are x' = c x and y' = c y with
// c = 2^384 / 2^kFormBits. The slope s = (y2' - y1') / (x2' - x1') is then the true one, and x3' = c s^2 - x1' - x2',
// y3' = s (x1' - x3') - y1'. Where c is the square of a power of two 1/u, s / u takes the place of s, and
// y3' = (s / u) u (x1' - x3') - y1'.

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/algebra/msm/batch_add_lanes.h"

namespace cuzk::algebra {
namespace {  // NOLINT: see lanes52.h

/// Eight points of a coordinate field F: how they are read and written, and what differs between Fp and Fp2.
template <class F>
struct PointLanes;

/// 1 / a, divided by 2^kSlopeBits.
inline FpX8 InverseLanes(const FpX8& a) {
  // With R = 2^384 2^s the value is a R, which read as memory form is a 2^s; its inverse is written as 2^384 / (a 2^s),
  // and a product with 2^s 2^s R makes of it R / a.
  constexpr unsigned kForm = FpX8::kFormBits, kShift = kForm - 384;
  static constexpr auto kUp = FpX8::PowerOfTwo(kForm + 2 * kShift - FpX8::kSlopeBits);
  Fp values[8];
  alignas(64) uint64_t words[8][8] = {};
  a.Scatter([&](size_t i) { return values[i].limb; });
  InvertEight(values);
  for (size_t i = 0; i < 8; ++i) std::memcpy(words[i], values[i].limb, sizeof(Fp));
  return FpX8::Gather<0>([&](size_t i) { return words[i]; }) * FpX8::Constant(kUp);
}

template <>
struct PointLanes<Fp> {
  using Lanes = FpX8;
  using Factor = FpX8Factor;
  static Factor ProductAsFactor(const FpX8& a) { return a.ProductAsFactor(); }
  template <class At>
  [[gnu::always_inline]] static FpX8 X(At p) {
    return FpX8::Gather<0>([&](size_t i) { return p(i)->x.limb; });
  }
  template <class At>
  [[gnu::always_inline]] static FpX8 Y(At p) {
    return FpX8::Gather<2>([&](size_t i) { return p(i)->y.limb; });
  }
  template <class At>
  [[gnu::always_inline]] static void Write(const AffinePoint<FpX8>& v, At p) {
    v.x.Scatter([&](size_t i) { return p(i)->x.limb; });
    v.y.Scatter([&](size_t i) { return p(i)->y.limb; });
  }
  static LaneMask ZeroLimbs(const FpX8& a) { return FpX8::ZeroLimbs(a.wide); }
  static FpX8 Select(LaneMask m, const FpX8& a, const FpX8& b) { return FpX8::Select(m, a, b); }
  static FpX8 NegatedWhere(LaneMask m, const FpX8& a) { return a.NegatedWhere(m); }
  static FpX8 SquareOfSlope(const FpX8Factor& slope) { return Square(slope).AsSquareOfSlope(); }
  static FpX8 TimesSlopeUnit(const FpX8& a) { return a.TimesSlopeUnit(); }
  static FpX8 Inverse(const FpX8& a) { return InverseLanes(a); }
};

template <>
struct PointLanes<Fp2> {
  using Lanes = Fp2X8;
  using Factor = Fp2X8Factor;
  static Factor ProductAsFactor(const Fp2X8& a) { return AsFactor(a); }
  template <class At>
  [[gnu::always_inline]] static Fp2X8 X(At p) {
    return {FpX8::Gather<0>([&](size_t i) { return p(i)->x.c0.limb; }),
            FpX8::Gather<2>([&](size_t i) { return p(i)->x.c1.limb; })};
  }
  template <class At>
  [[gnu::always_inline]] static Fp2X8 Y(At p) {
    return {FpX8::Gather<2>([&](size_t i) { return p(i)->y.c0.limb; }),
            FpX8::Gather<2>([&](size_t i) { return p(i)->y.c1.limb; })};
  }
  template <class At>
  [[gnu::always_inline]] static void Write(const AffinePoint<Fp2X8>& v, At p) {
    v.x.c0.Scatter([&](size_t i) { return p(i)->x.c0.limb; });
    v.x.c1.Scatter([&](size_t i) { return p(i)->x.c1.limb; });
    v.y.c0.Scatter([&](size_t i) { return p(i)->y.c0.limb; });
    v.y.c1.Scatter([&](size_t i) { return p(i)->y.c1.limb; });
  }
  static LaneMask ZeroLimbs(const Fp2X8& a) { return FpX8::ZeroLimbs(a.c0.wide) & FpX8::ZeroLimbs(a.c1.wide); }
  static Fp2X8 Select(LaneMask m, const Fp2X8& a, const Fp2X8& b) {
    return {FpX8::Select(m, a.c0, b.c0), FpX8::Select(m, a.c1, b.c1)};
  }
  static Fp2X8 NegatedWhere(LaneMask m, const Fp2X8& a) { return {a.c0.NegatedWhere(m), a.c1.NegatedWhere(m)}; }
  static Fp2X8 SquareOfSlope(const Fp2X8Factor& slope) {
    const Fp2X8 square = Square(slope);
    return {square.c0.AsSquareOfSlope(), square.c1.AsSquareOfSlope()};
  }
  static Fp2X8 TimesSlopeUnit(const Fp2X8& a) { return {a.c0.TimesSlopeUnit(), a.c1.TimesSlopeUnit()}; }
  static Fp2X8 Inverse(const Fp2X8& a) {
    auto t = InverseLanes(a.c0.Square() + a.c1.Square()).AsFactor();
    return {a.c0.AsFactor() * t, -(a.c1.AsFactor() * t)};
  }
};

/// Eight additions of a batch, between its two passes. Operands lie anywhere in memory and are read once.
template <class F>
struct AdditionGroup {
  typename PointLanes<F>::Lanes x1, y1, rise;          // y2 - y1
  typename PointLanes<F>::Factor denominator, prefix;  // x2 - x1, and the product of those before
  LaneMask special;                                    // infinity among the operands, or equal x: computed one by one
};

/// Shared denominators: the product so far goes into the group, and the group's into the product.
template <class F>
[[gnu::always_inline]] inline void FirstPass(const PointAddition<F>* additions, AdditionGroup<F>& group,
                                             typename PointLanes<F>::Factor& product) {
  using P = PointLanes<F>;
  auto left = [&](size_t i) { return additions[i].left; };
  auto right = [&](size_t i) { return additions[i].right; };
  LaneMask negate_left = 0, negate_right = 0;
  for (size_t i = 0; i < 8; ++i) {
    negate_left |= static_cast<LaneMask>(additions[i].negate_left << i);
    negate_right |= static_cast<LaneMask>(additions[i].negate_right << i);
  }
  group.x1 = P::X(left);
  auto x2 = P::X(right);
  auto difference = x2 - group.x1;
  // The curves' points of order r have x != 0, so that x = 0 is infinity or is rare.
  group.special = P::ZeroLimbs(group.x1) | P::ZeroLimbs(x2) | P::ZeroLimbs(difference);
  if (group.special) difference = P::Select(group.special, P::Lanes::One(), difference);
  group.y1 = P::NegatedWhere(negate_left, P::Y(left));
  group.rise = P::NegatedWhere(negate_right, P::Y(right)) - group.y1;
  group.denominator = AsFactor(difference);
  group.prefix = product;
  product = P::ProductAsFactor(product * group.denominator);
}

/// The sums; `inverse` is that of the product of the denominators up to and with this group's.
template <class F>
[[gnu::always_inline]] inline void SecondPass(const PointAddition<F>* additions, const AdditionGroup<F>& group,
                                              typename PointLanes<F>::Factor& inverse) {
  using P = PointLanes<F>;
  auto reciprocal = P::ProductAsFactor(inverse * group.prefix);
  inverse = P::ProductAsFactor(inverse * group.denominator);
  auto slope = P::ProductAsFactor(AsFactor(group.rise) * reciprocal);
  AffinePoint<typename P::Lanes> sum;
  sum.x = P::SquareOfSlope(slope) - group.x1.Double() - group.denominator.Value();
  sum.y = slope * AsFactor(P::TimesSlopeUnit(group.x1 - sum.x)) - group.y1;
  auto out = [&](size_t i) { return additions[i].out; };
  if (!group.special) {
    P::Write(sum, out);
    return;
  }
  // Before anything is written: a result may take the place of its operand.
  AffinePoint<F> one_by_one[8];
  for (size_t i = 0; i < 8; ++i) {
    if (group.special >> i & 1) one_by_one[i] = AddOne(additions[i]);
  }
  P::Write(sum, out);
  for (size_t i = 0; i < 8; ++i) {
    if (group.special >> i & 1) *out(i) = one_by_one[i];
  }
}

/// Asks for the operands of additions, which lie anywhere in memory; a point that is aligned to 32 bytes begins in one
/// cache line and goes on in whole ones. In assembly, because GCC takes a function that only prefetches for one without
/// effect and drops its calls.
template <class F>
void Prefetch(std::span<const PointAddition<F>> additions) {
  for (const PointAddition<F>& a : additions) {
    for (size_t offset = 0; offset < sizeof(AffinePoint<F>); offset += 64) {
      asm volatile("prefetcht0 %0" : : "m"(*(reinterpret_cast<const char*>(a.left) + offset)));
      asm volatile("prefetcht0 %0" : : "m"(*(reinterpret_cast<const char*>(a.right) + offset)));
    }
  }
}

/// Additions that share an inversion: as many as the second-level cache holds twice, beside their points.
template <class F>
inline constexpr size_t kLaneBatch = FpX8::kBatchBytes / sizeof(AffinePoint<F>);

/// The additions of one batch by groups of eight.
template <class F>
class Batch {
 public:
  using Factor = typename PointLanes<F>::Factor;

  Batch(std::span<const PointAddition<F>> additions, AdditionGroup<F>* groups)
      : additions_(additions), whole_(additions.size() / 8), count_((additions.size() + 7) / 8), groups_(groups) {
    // The last group is filled up with additions of no importance.
    for (size_t i = 0; i < 8; ++i) {
      size_t at = 8 * whole_ + i;
      last_[i] =
          at < additions.size() ? additions[at] : PointAddition<F>{&filler_[0], &filler_[1], &filler_[2], false, false};
    }
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  size_t count() const { return count_; }
  /// Half of a group.
  void PrefetchHalf(size_t g, size_t half) const {
    if (g < whole_) Prefetch(additions_.subspan(8 * g + 4 * half, 4));
  }
  void First(size_t g) { FirstPass(At(g), groups_[g], product_[g % 2]); }
  void Second(size_t g) { SecondPass(At(g), groups_[g], product_[g % 2]); }
  /// Between the passes.
  void Invert() {
    Factor both = AsFactor(PointLanes<F>::Inverse(product_[0] * product_[1]));
    Factor inverse_of_even = AsFactor(both * product_[1]);
    product_[1] = AsFactor(both * product_[0]);
    product_[0] = inverse_of_even;
  }

 private:
  const PointAddition<F>* At(size_t g) const { return g < whole_ ? additions_.data() + 8 * g : last_; }

  std::span<const PointAddition<F>> additions_;
  const size_t whole_, count_;
  AdditionGroup<F>* const groups_;
  // Of even and of odd groups, because one product would be a chain that the processor waits for; then their inverses.
  Factor product_[2] = {AsFactor(PointLanes<F>::Lanes::One()), AsFactor(PointLanes<F>::Lanes::One())};
  AffinePoint<F> filler_[3] = {};
  PointAddition<F> last_[8];
};

/// Of two batches.
template <class F>
size_t AddScratchBytes() {
  return 2 * kLaneBatch<F> / 8 * sizeof(AdditionGroup<F>);
}

/// The second pass of a batch goes along with the first one of the next, which waits for memory where the other
/// computes.
template <class F>
void AddAll(std::span<const PointAddition<F>> additions, std::byte* scratch) {
  constexpr size_t kBatch = kLaneBatch<F>, kAhead = 2;
  auto* groups = reinterpret_cast<AdditionGroup<F>*>(scratch);
  auto part = [&](size_t i) {
    size_t begin = std::min(i * kBatch, additions.size());
    return additions.subspan(begin, std::min(kBatch, additions.size() - begin));
  };
  auto first_pass = [](Batch<F>& batch, size_t g) {
    // Not all at once: a core waits for some ten lines of memory at a time.
    batch.PrefetchHalf(g + kAhead, 0);
    batch.First(g);
    batch.PrefetchHalf(g + kAhead, 1);
  };
  std::optional<Batch<F>> batches[2];
  for (size_t i = 0; i * kBatch < additions.size(); ++i) {
    if (i == 0) {
      batches[0].emplace(part(0), groups);
      for (size_t g = 0; g < batches[0]->count(); ++g) first_pass(*batches[0], g);
    }
    Batch<F>& now = *batches[i % 2];
    Batch<F>& next = batches[(i + 1) % 2].emplace(part(i + 1), groups + (i + 1) % 2 * (kBatch / 8));
    now.Invert();
    size_t done = 0;
    for (size_t g = now.count(); g-- > 0;) {
      if (done < next.count()) first_pass(next, done++);
      now.Second(g);
    }
  }
}

}  // namespace
}  // namespace cuzk::algebra
