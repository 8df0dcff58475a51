#include "core/algebra/msm.h"

#include <mutex>

#include "core/algebra/msm_buckets.h"
#include "core/algebra/msm_plan.h"
#include "core/algebra/naf.h"
#include "core/algebra/points_ifma.h"
#include "core/base/check.h"

namespace cuzk::algebra {
namespace {

/// Scalars below 2^64 go through buckets of their own, if there are enough of either kind.
constexpr unsigned kShortBits = 64;
constexpr size_t kEnough = 512;
/// Up to this many terms doubling and adding is cheaper than buckets.
constexpr size_t kFew = 48;

/// Terms of one class: which bases, and their scalars.
struct TermList {
  std::vector<uint32_t> indices;
  std::vector<SignedScalar> scalars;
};

/// One MSM call over points of F.
template <class F>
class MsmCall {
 public:
  using Point = JacobianPoint<F>;
  MsmCall(std::span<const AffinePoint<F>> bases, ThreadPool& pool, Arithmetic arithmetic)
      : bases_(bases), pool_(pool), arithmetic_(arithmetic) {}

  /// Sum of bases at the indices.
  Point Ones(std::span<const uint32_t> indices) {
    Point sum = Point::Infinity();
    std::mutex mutex;
    pool_.ParallelFor(indices.size(), BucketPass<F>::kChunk, [&](size_t begin, size_t end) {
      Point part = OnesOfPiece(indices.subspan(begin, end - begin));
      std::lock_guard lock(mutex);
      sum += part;
    });
    return sum;
  }

  /// scalars[j] times base number indices[j], or number first + j without indices.
  Point Slab(std::span<const Fr> scalars, const uint32_t* indices, uint32_t first) {
    std::vector<SignedScalar> all(scalars.size());
    pool_.ParallelFor(scalars.size(), 1024, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) all[i] = SignedScalar::From(scalars[i]);
    });
    std::vector<uint32_t> ones;
    TermList few_bits, many_bits;
    for (size_t i = 0; i < all.size(); ++i) {
      const uint32_t index = indices == nullptr ? first + static_cast<uint32_t>(i) : indices[i];
      const unsigned bits = all[i].BitLength();
      if (bits == 0) continue;
      if (bits == 1 && !all[i].negative) {
        ones.push_back(index);
        continue;
      }
      TermList& list = bits <= kShortBits ? few_bits : many_bits;
      list.indices.push_back(index);
      list.scalars.push_back(all[i]);
    }
    if (few_bits.indices.size() < kEnough || many_bits.indices.size() < kEnough) Merge(few_bits, many_bits);
    Point sum = Ones(ones);
    sum += Terms(few_bits, kShortBits);
    sum += Terms(many_bits, SignedScalar::kBits);
    return sum;
  }

 private:
  /// One list where two are not worth their buckets.
  static void Merge(TermList& few_bits, TermList& many_bits) {
    if (many_bits.indices.empty()) return;
    many_bits.indices.insert(many_bits.indices.end(), few_bits.indices.begin(), few_bits.indices.end());
    many_bits.scalars.insert(many_bits.scalars.end(), few_bits.scalars.begin(), few_bits.scalars.end());
    few_bits = {};
  }

  Point OnesOfPiece(std::span<const uint32_t> indices) {
    constexpr size_t kChunk = BucketPass<F>::kChunk;
    auto adder = MakeBatchAdder<F>(arithmetic_);
    RunReducer<F> reducer(*adder, std::min(indices.size(), kChunk));
    std::vector<SignedPoint<F>> items;
    std::vector<AffinePoint<F>> imported;
    Point sum = Point::Infinity();
    for (size_t i = 0; i < indices.size(); i += kChunk) {
      auto part = indices.subspan(i, std::min(kChunk, indices.size() - i));
      items.clear();
      if (adder->UsesMemoryForm()) {
        for (uint32_t index : part) items.emplace_back(&bases_[index], false);
      } else {
        imported.clear();
        for (uint32_t index : part) imported.push_back(bases_[index]);
        adder->Import(imported, imported);
        for (const auto& p : imported) items.emplace_back(&p, false);
      }
      uint32_t length[1] = {static_cast<uint32_t>(items.size())};
      reducer.Reduce(items, length);
      AffinePoint<F> total = *items[0].point();
      adder->Export({&total, 1}, {&total, 1});
      sum += total;
    }
    return sum;
  }

  Point Terms(const TermList& list, unsigned magnitude_bits) {
    if (list.indices.empty()) return Point::Infinity();
    return list.indices.size() <= kFew ? Few(list) : Buckets(list, magnitude_bits);
  }

  /// Doubling and adding, the doublings shared by all terms.
  Point Few(const TermList& list) {
    std::vector<std::array<Point, 8>> odd;
    std::vector<std::vector<int8_t>> digits;
    size_t length = 0;
    for (size_t j = 0; j < list.indices.size(); ++j) {
      const SignedScalar& k = list.scalars[j];
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

  Point Buckets(const TermList& list, unsigned magnitude_bits) {
    const size_t terms = list.indices.size();
    const MsmPlan plan = MsmPlan::For(terms, magnitude_bits, pool_.size(), sizeof(AffinePoint<F>));
    std::vector<DigitScalar> digits(terms);
    pool_.ParallelFor(terms, 1024, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) digits[i] = DigitScalar(list.scalars[i], plan.shape);
    });
    BucketTerms<F> bucket_terms{digits, bases_.data(), list.indices.data(), plan.shape};
    std::vector<AffinePoint<F>> imported = Import(list.indices);
    if (!imported.empty()) {
      bucket_terms.points = imported.data();
      bucket_terms.indices = nullptr;
    }
    return Combine(plan, RunTasks(plan, bucket_terms));
  }

  /// The listed bases in the adder's form, in order; nothing if memory form will do.
  std::vector<AffinePoint<F>> Import(std::span<const uint32_t> indices) {
    if (MakeBatchAdder<F>(arithmetic_)->UsesMemoryForm()) return {};
    std::vector<AffinePoint<F>> out(indices.size());
    pool_.ParallelFor(indices.size(), 1024, [&](size_t begin, size_t end) {
      auto adder = MakeBatchAdder<F>(arithmetic_);
      for (size_t i = begin; i < end; ++i) out[i] = bases_[indices[i]];
      std::span<AffinePoint<F>> part(out.data() + begin, end - begin);
      adder->Import(part, part);
    });
    return out;
  }

  /// The sums of all windows, range by range.
  std::vector<XyzzPoint<F>> RunTasks(const MsmPlan& plan, const BucketTerms<F>& terms) {
    const size_t windows = plan.shape.windows, groups = plan.Groups(), count = terms.scalars.size();
    std::vector<XyzzPoint<F>> sums(windows * plan.ranges, XyzzPoint<F>::Infinity());
    std::mutex mutex;
    std::vector<std::unique_ptr<BucketPass<F>>> idle;  // guarded by mutex
    auto take = [&] {
      std::lock_guard lock(mutex);
      if (idle.empty()) return std::make_unique<BucketPass<F>>(arithmetic_, plan.shape, plan.group);
      auto pass = std::move(idle.back());
      idle.pop_back();
      return pass;
    };
    pool_.ParallelFor(plan.Tasks(), 1, [&](size_t task_begin, size_t task_end) {
      auto pass = take();
      for (size_t task = task_begin; task < task_end; ++task) {
        const size_t range = task / groups, first = task % groups * plan.group;
        const size_t begin = count * range / plan.ranges, end = count * (range + 1) / plan.ranges;
        std::span<XyzzPoint<F>> out(sums.data() + range * windows + first,
                                    std::min<size_t>(plan.group, windows - first));
        pass->Run(terms, begin, end, static_cast<unsigned>(first), out);
      }
      std::lock_guard lock(mutex);
      idle.push_back(std::move(pass));
    });
    return sums;
  }

  static Point Combine(const MsmPlan& plan, const std::vector<XyzzPoint<F>>& sums) {
    Point result = Point::Infinity();
    for (unsigned w = plan.shape.windows; w-- > 0;) {
      for (unsigned i = 0; i < plan.shape.bits; ++i) result = Double(result);
      for (unsigned r = 0; r < plan.ranges; ++r) result += ToJacobian(sums[r * plan.shape.windows + w]);
    }
    return result;
  }

  std::span<const AffinePoint<F>> bases_;
  ThreadPool& pool_;
  Arithmetic arithmetic_;
};

template <class F>
JacobianPoint<F> FullMsm(std::span<const AffinePoint<F>> bases, std::span<const Fr> scalars, ThreadPool& pool,
                         Arithmetic arithmetic) {
  CUZK_CHECK(bases.size() == scalars.size());
  MsmCall<F> call(bases, pool, arithmetic);
  auto sum = JacobianPoint<F>::Infinity();
  for (size_t i = 0; i < scalars.size(); i += kMsmSlab) {
    sum += call.Slab(scalars.subspan(i, std::min(kMsmSlab, scalars.size() - i)), nullptr, static_cast<uint32_t>(i));
  }
  return sum;
}

template <class F>
JacobianPoint<F> ClassedMsm(std::span<const AffinePoint<F>> bases, const ClassedScalars& s, ThreadPool& pool,
                            Arithmetic arithmetic) {
  CUZK_CHECK(s.indices.size() == s.scalars.size());
  MsmCall<F> call(bases, pool, arithmetic);
  auto sum = call.Ones(s.ones);
  for (size_t i = 0; i < s.scalars.size(); i += kMsmSlab) {
    sum += call.Slab(s.scalars.subspan(i, std::min(kMsmSlab, s.scalars.size() - i)), s.indices.data() + i, 0);
  }
  return sum;
}

}  // namespace

G1 Msm(std::span<const G1Affine> bases, std::span<const Fr> scalars, ThreadPool& pool, Arithmetic arithmetic) {
  return FullMsm(bases, scalars, pool, arithmetic);
}
G2 Msm(std::span<const G2Affine> bases, std::span<const Fr> scalars, ThreadPool& pool, Arithmetic arithmetic) {
  return FullMsm(bases, scalars, pool, arithmetic);
}
G1 Msm(std::span<const G1Affine> bases, const ClassedScalars& scalars, ThreadPool& pool, Arithmetic arithmetic) {
  return ClassedMsm(bases, scalars, pool, arithmetic);
}
G2 Msm(std::span<const G2Affine> bases, const ClassedScalars& scalars, ThreadPool& pool, Arithmetic arithmetic) {
  return ClassedMsm(bases, scalars, pool, arithmetic);
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

uint64_t MsmScratchBytes(uint64_t terms, size_t point_bytes, size_t threads) {
  const uint64_t slab = std::min<uint64_t>(terms, kMsmSlab);
  // Signed scalars twice over while they are sorted into classes, digits, indices, and the imported points.
  const uint64_t shared = slab * (2 * sizeof(SignedScalar) + sizeof(DigitScalar) + sizeof(uint32_t) + point_bytes);
  // Buckets with counts, and per addition of a chunk a sum, a place, an item and two records of the addition.
  const uint64_t chunk = BucketPass<Fp>::kChunk;
  return shared + threads * (2 * kMsmBucketBytes + chunk * (point_bytes + 128));
}

}  // namespace cuzk::algebra
