#include "core/algebra/msm/msm.h"

#include <array>
#include <memory>
#include <vector>

#include "core/algebra/curve/naf.h"
#include "core/algebra/curve/points_ifma.h"
#include "core/algebra/msm/msm_buckets.h"
#include "core/algebra/msm/msm_meter.h"
#include "core/algebra/msm/msm_plan.h"
#include "core/base/check.h"
#include "core/base/mutex.h"

namespace cuzk::algebra {
namespace {

/// Scalars below 2^64 go through buckets of their own, if there are enough of either kind.
constexpr unsigned kShortBits = 64;
constexpr size_t kEnough = 512;
/// Up to this many terms doubling and adding is cheaper than buckets.
constexpr size_t kFew = 48;

/// The classes of scalars, in the order in which their terms are listed.
enum Class : uint8_t { kOnes, kFewBits, kManyBits, kZeros };

Class ClassOf(const SignedScalar& scalar) {
  const unsigned bits = scalar.BitLength();
  if (bits == 0) return kZeros;
  if (bits == 1 && !scalar.negative) return kOnes;
  return bits <= kShortBits ? kFewBits : kManyBits;
}

/// Terms of one class: which bases, and which of the piece's scalars.
struct TermList {
  std::span<const uint32_t> indices, positions;
};

/// One MSM call over points of F.
template <class F>
class MsmCall {
 public:
  using Point = JacobianPoint<F>;
  using Pass = BucketPass<F>;
  MsmCall(std::span<const AffinePoint<F>> bases, const MsmOptions& options, uint64_t units)
      : bases_(bases),
        options_(options),
        pool_(*options.pool),
        allocator_(options.scratch ? *options.scratch : system_memory_),
        meter_(units, options.progress, options.stop) {}

  /// Sum of bases at the indices.
  StatusOr<Point> Ones(std::span<const uint32_t> indices) {
    Point sum = Point::Infinity();
    if (indices.empty()) return sum;
    CUZK_RETURN_IF_ERROR(ProvidePasses({0, 0, std::min(indices.size(), Pass::kChunk)}, indices.size()));
    Mutex mutex;
    pool_.ParallelFor(indices.size(), Pass::kChunk, [&](size_t begin, size_t end) {
      if (meter_.stopped()) return;
      Pass* pass = TakePass();
      Point part = pass->SumOf(bases_.data(), indices.subspan(begin, end - begin),
                               [&](size_t added) { return meter_.Add(added * MsmMeter::kOne); });
      GiveBack(pass);
      MutexLock lock(mutex);
      sum += part;
    });
    CUZK_RETURN_IF_ERROR(CheckStop());
    return sum;
  }

  /// scalars[j] times base number indices[j], or number first + j without indices. At most kMsmSlab of them.
  StatusOr<Point> Slab(std::span<const Fr> scalars, const uint32_t* indices, uint32_t first) {
    CUZK_RETURN_IF_ERROR(ProvideLists(scalars.size()));
    const auto classes = classes_.span().first(scalars.size());
    pool_.ParallelFor(scalars.size(), 1024, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const SignedScalar scalar = SignedScalar::From(scalars[i]);
        classes[i] = ClassOf(scalar);
        scalars_[i] = DigitScalar(scalar);
      }
    });
    std::array<size_t, 4> counts{}, next{};
    for (uint8_t c : classes) ++counts[c];
    // One list where two are not worth their buckets: the few bits simply go before the many.
    const bool merge = counts[kManyBits] > 0 && (counts[kFewBits] < kEnough || counts[kManyBits] < kEnough);
    next[kFewBits] = counts[kOnes];
    next[kManyBits] = counts[kOnes] + counts[kFewBits];
    for (size_t i = 0; i < classes.size(); ++i) {
      if (classes[i] == kZeros) continue;
      const size_t at = next[classes[i]]++;
      positions_[at] = static_cast<uint32_t>(i);
      indices_[at] = indices == nullptr ? first + static_cast<uint32_t>(i) : indices[i];
    }
    auto list = [&](size_t begin, size_t count) {
      return TermList{indices_.span().subspan(begin, count), positions_.span().subspan(begin, count)};
    };
    CUZK_ASSIGN_OR_RETURN(Point sum, Ones(list(0, counts[kOnes]).indices));
    const size_t few = merge ? 0 : counts[kFewBits];
    CUZK_ASSIGN_OR_RETURN(Point part, Terms(list(counts[kOnes], few), kShortBits));
    sum += part;
    const size_t many = counts[kFewBits] + counts[kManyBits] - few;
    CUZK_ASSIGN_OR_RETURN(part, Terms(list(counts[kOnes] + few, many), SignedScalar::kBits));
    sum += part;
    return sum;
  }

  /// Work up to here is done.
  void Reach(uint64_t units) { meter_.Reach(units); }

 private:
  /// Memory for the lists of a piece of so many terms.
  Status ProvideLists(size_t terms) {
    if (classes_.size() >= terms) return absl::OkStatus();
    CUZK_ASSIGN_OR_RETURN(classes_, memory::Array<uint8_t>::Allocate(allocator_, terms, "terms of a sum"));
    CUZK_ASSIGN_OR_RETURN(positions_, memory::Array<uint32_t>::Allocate(allocator_, terms, "terms of a sum"));
    CUZK_ASSIGN_OR_RETURN(indices_, memory::Array<uint32_t>::Allocate(allocator_, terms, "terms of a sum"));
    CUZK_ASSIGN_OR_RETURN(scalars_, memory::Array<DigitScalar>::Allocate(allocator_, terms, "scalars of a sum"));
    return absl::OkStatus();
  }

  /// A pass with this room for every thread that may run one of `tasks` tasks.
  Status ProvidePasses(const typename Pass::Room& room, size_t tasks) {
    MutexLock lock(mutex_);
    idle_.clear();
    passes_.resize(std::min(pool_.size(), tasks));
    for (auto& pass : passes_) {
      if (!pass || !pass->room().Holds(room)) {
        pass.reset();
        CUZK_ASSIGN_OR_RETURN(pass, Pass::Create(options_.arithmetic, room, allocator_));
      }
      idle_.push_back(pass.get());
    }
    return absl::OkStatus();
  }
  Pass* TakePass() {
    MutexLock lock(mutex_);
    Pass* pass = idle_.back();
    idle_.pop_back();
    return pass;
  }
  void GiveBack(Pass* pass) {
    MutexLock lock(mutex_);
    idle_.push_back(pass);
  }

  Status CheckStop() const {
    return meter_.stopped() ? absl::CancelledError("cancelled in the middle of a sum") : absl::OkStatus();
  }

  StatusOr<Point> Terms(const TermList& list, unsigned magnitude_bits) {
    if (list.indices.empty()) return Point::Infinity();
    if (list.indices.size() <= kFew) return Few(list);
    return Buckets(list, magnitude_bits);
  }

  /// Doubling and adding, the doublings shared by all terms.
  Point Few(const TermList& list) const {
    std::vector<std::array<Point, 8>> odd;
    std::vector<std::vector<int8_t>> digits;
    size_t length = 0;
    for (size_t j = 0; j < list.indices.size(); ++j) {
      const SignedScalar k = scalars_[list.positions[j]].Value();
      AffinePoint<F> base = bases_[list.indices[j]];
      odd.push_back(OddMultiples(ToJacobian(k.negative ? -base : base)));
      digits.push_back(NafDigits(k.magnitude));
      length = std::max(length, digits.back().size());
    }
    Point sum = Point::Infinity();
    for (size_t i = length; i-- > 0;) {
      sum = Double(sum);
      for (size_t j = 0; j < digits.size(); ++j) {
        if (i >= digits[j].size() || digits[j][i] == 0) continue;
        sum += digits[j][i] > 0 ? odd[j][digits[j][i] / 2] : -odd[j][-digits[j][i] / 2];
      }
    }
    return sum;
  }

  StatusOr<Point> Buckets(const TermList& list, unsigned magnitude_bits) {
    const size_t terms = list.indices.size();
    const MsmPlan plan = MsmPlan::For(terms, magnitude_bits, pool_.size(), sizeof(AffinePoint<F>));
    CUZK_ASSIGN_OR_RETURN(auto sums, memory::Array<XyzzPoint<F>>::Allocate(
                                         allocator_, size_t{plan.shape.windows} * plan.ranges, "windows of a sum"));
    CUZK_RETURN_IF_ERROR(ProvidePasses(Pass::Room::For(plan.shape, plan.group, terms / plan.ranges + 1), plan.Tasks()));
    pool_.ParallelFor(terms, 1024, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) scalars_[list.positions[i]].Cut(plan.shape);
    });
    const BucketTerms<F> cut{scalars_.span().data(), list.positions, bases_.data(), list.indices.data(), plan.shape};
    RunTasks(plan, cut, sums.span());
    CUZK_RETURN_IF_ERROR(CheckStop());
    return Combine(plan, sums.span());
  }

  /// The sums of all windows, range by range.
  void RunTasks(const MsmPlan& plan, const BucketTerms<F>& terms, std::span<XyzzPoint<F>> sums) {
    const size_t windows = plan.shape.windows, groups = plan.Groups(), count = terms.size();
    pool_.ParallelFor(plan.Tasks(), 1, [&](size_t task_begin, size_t task_end) {
      Pass* pass = TakePass();
      for (size_t task = task_begin; task < task_end && !meter_.stopped(); ++task) {
        const size_t range = task / groups, first = task % groups * plan.group;
        const size_t begin = count * range / plan.ranges, end = count * (range + 1) / plan.ranges;
        pass->Run(terms, {begin, end, static_cast<unsigned>(first)},
                  sums.subspan(range * windows + first, std::min<size_t>(plan.group, windows - first)),
                  [&](size_t added) { return meter_.Add(added * MsmMeter::kTerm / windows); });
      }
      GiveBack(pass);
    });
  }

  static Point Combine(const MsmPlan& plan, std::span<const XyzzPoint<F>> sums) {
    Point result = Point::Infinity();
    for (unsigned w = plan.shape.windows; w-- > 0;) {
      for (unsigned i = 0; i < plan.shape.bits; ++i) result = Double(result);
      for (unsigned r = 0; r < plan.ranges; ++r) result += ToJacobian(sums[r * plan.shape.windows + w]);
    }
    return result;
  }

  const std::span<const AffinePoint<F>> bases_;
  const MsmOptions& options_;
  ThreadPool& pool_;
  memory::AlignedAllocator system_memory_;
  memory::HostAllocator& allocator_;
  MsmMeter meter_;
  memory::Array<uint8_t> classes_;
  memory::Array<uint32_t> positions_, indices_;  // of the terms, class by class
  memory::Array<DigitScalar> scalars_;           // of the piece, in its order
  std::vector<std::unique_ptr<Pass>> passes_;
  Mutex mutex_;
  std::vector<Pass*> idle_ ABSL_GUARDED_BY(mutex_);
};

template <class F>
StatusOr<JacobianPoint<F>> FullMsm(std::span<const AffinePoint<F>> bases, std::span<const Fr> scalars,
                                   const MsmOptions& options) {
  CUZK_CHECK(bases.size() == scalars.size());
  MsmCall<F> call(bases, options, scalars.size() * MsmMeter::kTerm);
  auto sum = JacobianPoint<F>::Infinity();
  for (size_t i = 0; i < scalars.size(); i += kMsmSlab) {
    const size_t n = std::min(kMsmSlab, scalars.size() - i);
    CUZK_ASSIGN_OR_RETURN(auto part, call.Slab(scalars.subspan(i, n), nullptr, static_cast<uint32_t>(i)));
    sum += part;
    call.Reach((i + n) * MsmMeter::kTerm);
  }
  return sum;
}

template <class F>
StatusOr<JacobianPoint<F>> ClassedMsm(std::span<const AffinePoint<F>> bases, const ClassedScalars& s,
                                      const MsmOptions& options) {
  CUZK_CHECK(s.indices.size() == s.scalars.size());
  const uint64_t ones = s.ones.size() * MsmMeter::kOne;
  MsmCall<F> call(bases, options, ones + s.scalars.size() * MsmMeter::kTerm);
  CUZK_ASSIGN_OR_RETURN(auto sum, call.Ones(s.ones));
  call.Reach(ones);
  for (size_t i = 0; i < s.scalars.size(); i += kMsmSlab) {
    const size_t n = std::min(kMsmSlab, s.scalars.size() - i);
    CUZK_ASSIGN_OR_RETURN(auto part, call.Slab(s.scalars.subspan(i, n), s.indices.data() + i, 0));
    sum += part;
    call.Reach(ones + (i + n) * MsmMeter::kTerm);
  }
  return sum;
}

/// Of a small sum.
template <class Point>
Point Must(StatusOr<Point> sum) {
  CUZK_CHECK(sum.ok());
  return *sum;
}

}  // namespace

StatusOr<G1> Msm(std::span<const G1Affine> bases, std::span<const Fr> scalars, const MsmOptions& options) {
  return FullMsm(bases, scalars, options);
}
StatusOr<G2> Msm(std::span<const G2Affine> bases, std::span<const Fr> scalars, const MsmOptions& options) {
  return FullMsm(bases, scalars, options);
}
StatusOr<G1> Msm(std::span<const G1Affine> bases, const ClassedScalars& scalars, const MsmOptions& options) {
  return ClassedMsm(bases, scalars, options);
}
StatusOr<G2> Msm(std::span<const G2Affine> bases, const ClassedScalars& scalars, const MsmOptions& options) {
  return ClassedMsm(bases, scalars, options);
}

G1 Msm(std::span<const G1Affine> bases, std::span<const Fr> scalars, ThreadPool& pool, Arithmetic arithmetic) {
  return Must(FullMsm(bases, scalars, {.pool = &pool, .arithmetic = arithmetic}));
}
G2 Msm(std::span<const G2Affine> bases, std::span<const Fr> scalars, ThreadPool& pool, Arithmetic arithmetic) {
  return Must(FullMsm(bases, scalars, {.pool = &pool, .arithmetic = arithmetic}));
}
G1 Msm(std::span<const G1Affine> bases, const ClassedScalars& scalars, ThreadPool& pool, Arithmetic arithmetic) {
  return Must(ClassedMsm(bases, scalars, {.pool = &pool, .arithmetic = arithmetic}));
}
G2 Msm(std::span<const G2Affine> bases, const ClassedScalars& scalars, ThreadPool& pool, Arithmetic arithmetic) {
  return Must(ClassedMsm(bases, scalars, {.pool = &pool, .arithmetic = arithmetic}));
}

void ScalarMulEach(std::span<const G1Affine> points, std::span<const std::array<uint64_t, 2>> k,
                   std::span<G1Affine> out, Arithmetic arithmetic) {
  CUZK_CHECK(points.size() == k.size() && points.size() == out.size());
  std::vector<G1> products(points.size());
  for (size_t i = 0; i < points.size(); i += 8) {
    const size_t count = std::min<size_t>(8, points.size() - i);
    if (arithmetic != Arithmetic::kIfma || count < 3) {
      for (size_t j = i; j < i + count; ++j) products[j] = ScalarMul(ToJacobian(points[j]), k[j]);
      continue;
    }
    EightPoints<Fp> eight;
    uint64_t factors[8][2];
    for (size_t j = 0; j < 8; ++j) {
      const size_t at = i + std::min(j, count - 1);
      // In a lane infinity would stay (0, 0, 1), so another point stands for it.
      eight.point[j] = points[at].IsInfinity() ? G1Generator() : points[at];
      factors[j][0] = k[at][0], factors[j][1] = k[at][1];
    }
    G1 results[8];
    IfmaScalarMulEight(eight, factors, results);
    for (size_t j = 0; j < count; ++j) products[i + j] = points[i + j].IsInfinity() ? G1::Infinity() : results[j];
  }
  BatchToAffine(products, out);
}

namespace {

template <class F>
uint64_t ScratchBytes(uint64_t terms, size_t threads) {
  using Pass = BucketPass<F>;
  const uint64_t slab = std::min<uint64_t>(terms, kMsmSlab);
  const uint64_t lists = slab * (sizeof(uint8_t) + 2 * sizeof(uint32_t) + sizeof(DigitScalar));
  // The largest that plans may be: buckets of a task, of which those of several windows are a quarter at most.
  const size_t buckets = kMsmBucketBytes / sizeof(AffinePoint<F>);
  const typename Pass::Room room{buckets, std::max(buckets / 4, Pass::kSegments), Pass::kChunk};
  const uint64_t windows = MsmPlan::kMostWindows * MsmPlan::kRangesPerThread * sizeof(XyzzPoint<F>);
  return lists + threads * (room.Bytes() + windows);
}

}  // namespace

uint64_t MsmScratchBytes(uint64_t terms, size_t point_bytes, size_t threads) {
  return point_bytes == sizeof(G1Affine) ? ScratchBytes<Fp>(terms, threads) : ScratchBytes<Fp2>(terms, threads);
}

}  // namespace cuzk::algebra
