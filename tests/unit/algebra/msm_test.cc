#include "core/algebra/msm/msm.h"

#include <gtest/gtest.h>

#include "core/algebra/curve/naf.h"
#include "core/algebra/msm/fixed_base.h"
#include "core/algebra/msm/msm_buckets.h"
#include "core/algebra/msm/msm_plan.h"
#include "tests/unit/algebra/arithmetics.h"
#include "tests/unit/algebra/msm_laws.h"

namespace cuzk::algebra {
namespace {

template <class F>
class MsmOf : public testing::Test {};
using Fields = testing::Types<Fp, Fp2>;
TYPED_TEST_SUITE(MsmOf, Fields);

TYPED_TEST(MsmOf, EqualsTheKnownSum) {
  const std::vector<size_t> sizes = {1, 2, 3, 31, 48, 49, 100, 513, 1501};
  for (Arithmetic arithmetic : TestedArithmetics()) {
    for (size_t threads : {1, 3}) {
      ThreadPool pool(threads);
      EXPECT_EQ(BrokenMsmLaw(ProcessorMsm<TypeParam>(pool, arithmetic), sizes), "") << ArithmeticName(arithmetic);
    }
  }
}

TYPED_TEST(MsmOf, ClassesEqualTheKnownSum) {
  for (Arithmetic arithmetic : TestedArithmetics()) {
    for (size_t threads : {1, 2}) {
      ThreadPool pool(threads);
      for (size_t n : {1, 5, 700}) {
        EXPECT_EQ(BrokenClassedMsmLaw(ProcessorMsm<TypeParam>(pool, arithmetic), n), "") << ArithmeticName(arithmetic);
      }
    }
  }
}

TYPED_TEST(MsmOf, ManyTermsGoThroughSeveralChunks) {
  const size_t n = std::is_same_v<TypeParam, Fp> ? 40001 : 9001;
  const KnownBases<TypeParam> bases(n, true, 5);
  ThreadPool pool(2);
  for (Arithmetic arithmetic : TestedArithmetics()) {
    for (size_t kind : {size_t{0}, size_t{2}, size_t{4}}) {
      const auto scalars = ScalarsOfKind(kind, n, 6);
      EXPECT_TRUE(Msm(bases.points, std::span<const Fr>(scalars), pool, arithmetic) == KnownSum(bases, scalars))
          << ArithmeticName(arithmetic) << " " << ScalarKinds()[kind];
    }
  }
}

TEST(Msm, TermsThatMeetInFewBucketsAreSortedAndAdded) {
  constexpr size_t kTerms = 40001;
  const MsmPlan plan = MsmPlan::For(kTerms, SignedScalar::kBits, 1, sizeof(G1Affine));
  using Pass = BucketPass<Fp>;
  ASSERT_GE(plan.group * plan.shape.Buckets(), Pass::kSparse * Pass::kLeastSpan) << "terms are not added as they come";
  ASSERT_GT(kTerms, Pass::kChunk);
  const KnownBases<Fp> bases(kTerms, true, 7);
  const auto any = ScalarsOfKind(0, kTerms, 8);
  ThreadPool pool(1);
  for (Arithmetic arithmetic : TestedArithmetics()) {
    for (size_t different : {1, 3, 300}) {
      std::vector<Fr> scalars(kTerms);
      for (size_t i = 0; i < kTerms; ++i) scalars[i] = any[i * i % different];
      EXPECT_TRUE(Msm(bases.points, std::span<const Fr>(scalars), pool, arithmetic) == KnownSum(bases, scalars))
          << ArithmeticName(arithmetic) << ", " << different << " different scalars";
    }
  }
}

TYPED_TEST(MsmOf, NothingSumsToInfinity) {
  ThreadPool pool(1);
  EXPECT_TRUE(Msm(std::span<const AffinePoint<TypeParam>>(), std::span<const Fr>(), pool).IsInfinity());
}

TYPED_TEST(MsmOf, PointsOutsideTheSubgroupAreSummedToo) {
  // Scalars act as integers below r there, so k and k - r differ: the sum must be the one of the signs and digits
  // chosen only if those are applied consistently. Ones and short positive scalars are exact.
  TypeParam x = TypeParam::Zero(), y;
  for (bool found = false; !found;) {
    x += TypeParam::One();
    if (auto root = Sqrt(x.Square() * x + CurveB<TypeParam>())) y = *root, found = true;
  }
  const AffinePoint<TypeParam> p{x, y};
  ASSERT_FALSE(IsInSubgroup(p));
  std::vector<AffinePoint<TypeParam>> bases(600, p);
  std::vector<Fr> scalars;
  uint64_t sum[1] = {0};
  for (uint64_t i = 0; i < bases.size(); ++i) scalars.push_back(Fr::FromU64(i * i)), sum[0] += i * i;
  ThreadPool pool(1);
  for (Arithmetic arithmetic : TestedArithmetics()) {
    EXPECT_TRUE(Msm(bases, std::span<const Fr>(scalars), pool, arithmetic) == ScalarMul(ToJacobian(p), sum));
  }
}

TYPED_TEST(MsmOf, LawsFindABrokenDouble) {
  ThreadPool pool(1);
  auto broken = ProcessorMsm<TypeParam>(pool, Arithmetic::kScalar);
  broken.msm = [&](auto bases, auto scalars) {  // forgets the last term
    return Msm(bases.first(bases.size() - 1), scalars.first(scalars.size() - 1), pool);
  };
  const size_t sizes[] = {31};
  EXPECT_NE(BrokenMsmLaw(broken, sizes), "");
  broken.classed = [&](auto bases, const ClassedScalars& s) { return Msm(bases, {{}, s.indices, s.scalars}, pool); };
  EXPECT_NE(BrokenClassedMsmLaw(broken, 31), "");
}

TYPED_TEST(MsmOf, FixedBaseEqualsOneByOne) {
  const auto base = ToAffine(ScalarMul(Generator<TypeParam>(), Fr::FromU64(77)));
  for (Arithmetic arithmetic : TestedArithmetics()) {
    for (size_t n : {1, 40, 3001}) {
      ThreadPool pool(n % 3 + 1);
      FixedBase<TypeParam> fixed(base, n, pool, arithmetic);
      for (size_t kind = 0; kind < ScalarKinds().size(); ++kind) {
        auto scalars = ScalarsOfKind(kind, n, kind);
        std::vector<AffinePoint<TypeParam>> out(n);
        fixed.Multiply(scalars, out, pool);
        for (size_t i = 0; i < n; i += 1 + n / 50) EXPECT_EQ(out[i], ToAffine(ScalarMul(base, scalars[i])));
      }
    }
  }
}

TYPED_TEST(MsmOf, FixedBaseOfInfinityIsInfinity) {
  ThreadPool pool(1);
  for (Arithmetic arithmetic : TestedArithmetics()) {
    FixedBase<TypeParam> fixed(AffinePoint<TypeParam>::Infinity(), 10, pool, arithmetic);
    auto scalars = ScalarsOfKind(0, 10, 1);
    std::vector<AffinePoint<TypeParam>> out(10, Generator<TypeParam>());
    fixed.Multiply(scalars, out, pool);
    for (const auto& p : out) EXPECT_TRUE(p.IsInfinity());
  }
}

TEST(ScalarMulEach, EqualsOneByOne) {
  const auto points = SamplePoints<Fp>(29, 8);  // infinity is the first
  std::vector<std::array<uint64_t, 2>> k;
  std::mt19937_64 random(8);
  for (size_t i = 0; i < points.size(); ++i) k.push_back({random(), i % 3 == 0 ? 0 : random() >> (random() % 64)});
  k[1] = {1, 0}, k[2] = {2, 0}, k[3] = {3, 0}, k[4] = {~uint64_t{0}, ~uint64_t{0}}, k[5] = {0, 1};
  for (Arithmetic arithmetic : TestedArithmetics()) {
    for (size_t n : {size_t{0}, size_t{1}, size_t{3}, size_t{8}, size_t{12}, points.size()}) {
      std::vector<G1Affine> out(n);
      ScalarMulEach(std::span(points).first(n), std::span(k).first(n), out, arithmetic);
      for (size_t i = 0; i < n; ++i) EXPECT_EQ(out[i], ToAffine(ScalarMul(ToJacobian(points[i]), k[i]))) << i;
    }
  }
}

/// sum of digit times weight, as an element.
template <class Digits>
Fr Recombine(const Digits& digits, unsigned bits) {
  Fr sum = Fr::Zero(), weight = Fr::One();
  for (int32_t d : digits) {
    sum += Fr::FromI64(d) * weight;
    for (unsigned i = 0; i < bits; ++i) weight = weight.Double();
  }
  return sum;
}

TEST(MsmScalars, DigitsOfEveryWidthRecombine) {
  for (unsigned bits = 2; bits <= 17; ++bits) {
    const WindowShape shape = WindowShape::For(bits, SignedScalar::kBits);
    EXPECT_GT(shape.bits * shape.windows, SignedScalar::kBits);
    for (size_t kind = 0; kind < ScalarKinds().size(); ++kind) {
      for (const Fr& k : ScalarsOfKind(kind, 20, bits)) {
        DigitScalar scalar(SignedScalar::From(k));
        EXPECT_EQ(scalar.Value(), SignedScalar::From(k));
        scalar.Cut(shape);
        std::vector<int32_t> digits;
        for (unsigned w = 0; w < shape.windows; ++w) {
          digits.push_back(scalar.Digit(DigitScalar::Window(w, shape)));
          EXPECT_LE(static_cast<uint32_t>(std::abs(digits.back())), shape.Buckets());
        }
        EXPECT_EQ(Recombine(digits, bits), k);
      }
    }
  }
}

TEST(MsmScalars, MagnitudeIsTheSmallerRepresentative) {
  EXPECT_EQ(SignedScalar::From(-Fr::One()).BitLength(), 1u);
  EXPECT_TRUE(SignedScalar::From(-Fr::One()).negative);
  EXPECT_EQ(SignedScalar::From(Fr::Zero()).BitLength(), 0u);
  Fr half = Fr::FromU64(2).Inverse();  // (r + 1) / 2, the first above the middle
  EXPECT_TRUE(SignedScalar::From(half).negative);
  EXPECT_FALSE(SignedScalar::From(half - Fr::One()).negative);
  EXPECT_LE(SignedScalar::From(half).BitLength(), SignedScalar::kBits);
}

TEST(Naf, DigitsAreOddOrZeroAndRecombine) {
  for (size_t kind = 0; kind < ScalarKinds().size(); ++kind) {
    for (const Fr& k : ScalarsOfKind(kind, 20, 9)) {
      auto digits = NafDigits(k.ToCanonical());
      for (int8_t d : digits) EXPECT_TRUE(d == 0 || (d % 2 != 0 && d > -16 && d < 16));
      EXPECT_EQ(Recombine(digits, 1), k);
    }
  }
}

TEST(MsmPlan, CoversEveryWindowAndStaysInItsMemory) {
  for (size_t terms : {50u, 1000u, 65536u, 2097152u}) {
    for (size_t threads : {1, 2, 64}) {
      for (size_t point : {96, 192}) {
        MsmPlan plan = MsmPlan::For(terms, SignedScalar::kBits, threads, point);
        EXPECT_GT(plan.shape.bits * plan.shape.windows, SignedScalar::kBits);
        EXPECT_GE(plan.Groups() * plan.group, plan.shape.windows);
        EXPECT_LE(plan.group * plan.shape.Buckets() * point, kMsmBucketBytes);
        EXPECT_GE(MsmScratchBytes(terms, point, threads), plan.group * plan.shape.Buckets() * point);
      }
    }
  }
}

}  // namespace
}  // namespace cuzk::algebra
