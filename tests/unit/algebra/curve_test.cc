#include "core/algebra/curve/curve.h"

#include <gtest/gtest.h>

#include "core/algebra/msm/batch_add.h"
#include "tests/unit/algebra/group_laws.h"

namespace cuzk::algebra {
namespace {

template <class F>
using Points = std::vector<AffinePoint<F>>;

/// Adds one pair at a time through `op`, which gives a Jacobian point.
template <class F, class Op>
GroupOperations<F> OneByOne(Op op) {
  GroupOperations<F> g;
  g.add = [op](const Points<F>& a, const Points<F>& b) {
    Points<F> r;
    for (size_t i = 0; i < a.size(); ++i) r.push_back(ToAffine(op(a[i], b[i])));
    return r;
  };
  return g;
}

/// The same point with another Z.
template <class F>
JacobianPoint<F> Rescaled(const AffinePoint<F>& p) {
  JacobianPoint<F> j = ToJacobian(p);
  const F z = F::One() + F::One() + F::One();
  return {j.x * z.Square(), j.y * z.Square() * z, j.z * z};
}
template <class F>
XyzzPoint<F> RescaledXyzz(const AffinePoint<F>& p) {
  if (p.IsInfinity()) return XyzzPoint<F>::Infinity();
  const F z = F::One() + F::One() + F::One();
  return {p.x * z.Square(), p.y * z.Square() * z, z.Square(), z.Square() * z};
}

template <class F>
GroupOperations<F> Batched(Arithmetic arithmetic) {
  GroupOperations<F> g;
  g.add = [arithmetic](const Points<F>& a, const Points<F>& b) {
    auto adder = MakeBatchAdder<F>(arithmetic);
    Points<F> left = a, right = b, r(a.size());
    std::vector<PointAddition<F>> additions;
    for (size_t i = 0; i < a.size(); ++i) {
      // Signs are the adder's too: the operand is stored negated and marked so, now the one, now the other.
      bool negate_left = i % 2, negate_right = i % 3 == 0;
      if (negate_left) left[i] = -left[i];
      if (negate_right) right[i] = -right[i];
      // The result goes to an array of its own, or over an operand.
      AffinePoint<F>* out = i % 5 == 0 ? &left[i] : i % 5 == 1 ? &right[i] : &r[i];
      additions.push_back({&left[i], &right[i], out, negate_left, negate_right});
    }
    adder->Run(additions);
    for (size_t i = 0; i < a.size(); ++i) r[i] = *additions[i].out;
    return r;
  };
  return g;
}

template <class F>
class Curve : public testing::Test {};
using Fields = testing::Types<Fp, Fp2>;
TYPED_TEST_SUITE(Curve, Fields);

TYPED_TEST(Curve, JacobianSumsKeepTheLaws) {
  using A = AffinePoint<TypeParam>;
  auto full = OneByOne<TypeParam>([](const A& a, const A& b) { return Add(Rescaled(a), Rescaled(b)); });
  full.twice = [](const Points<TypeParam>& a) {
    Points<TypeParam> r;
    for (const A& p : a) r.push_back(ToAffine(Double(Rescaled(p))));
    return r;
  };
  EXPECT_EQ(BrokenGroupLaw(full), "");
  EXPECT_EQ(BrokenGroupLaw(OneByOne<TypeParam>([](const A& a, const A& b) { return Add(Rescaled(a), b); })), "");
}

TYPED_TEST(Curve, XyzzSumsKeepTheLaws) {
  using A = AffinePoint<TypeParam>;
  auto full =
      OneByOne<TypeParam>([](const A& a, const A& b) { return ToJacobian(Add(RescaledXyzz(a), RescaledXyzz(b))); });
  full.twice = [](const Points<TypeParam>& a) {
    Points<TypeParam> r;
    for (const A& p : a) r.push_back(ToAffine(ToJacobian(Double(RescaledXyzz(p)))));
    return r;
  };
  EXPECT_EQ(BrokenGroupLaw(full), "");
  EXPECT_EQ(
      BrokenGroupLaw(OneByOne<TypeParam>([](const A& a, const A& b) { return ToJacobian(Add(RescaledXyzz(a), b)); })),
      "");
}

TYPED_TEST(Curve, BatchedSumsKeepTheLaws) {
  EXPECT_EQ(BrokenGroupLaw(Batched<TypeParam>(Arithmetic::kScalar), 40), "");
  EXPECT_EQ(BrokenGroupLaw(Batched<TypeParam>(Arithmetic::kFma), 40), "");
  if (!IsSupported(Arithmetic::kIfma)) GTEST_SKIP() << "no AVX-512 IFMA here";
  EXPECT_EQ(BrokenGroupLaw(Batched<TypeParam>(Arithmetic::kIfma), 40), "");
}

TYPED_TEST(Curve, LawsFindABrokenDouble) {
  using A = AffinePoint<TypeParam>;
  // The incomplete formulas: infinity and equal points are not handled.
  auto incomplete = OneByOne<TypeParam>([](const A& a, const A& b) {
    auto p = Rescaled(a), q = Rescaled(b);
    return formulas::AddFinish(formulas::AddSteps(p, q), p.z * q.z);
  });
  EXPECT_NE(BrokenGroupLaw(incomplete), "");
  auto no_doubling = OneByOne<TypeParam>(
      [](const A& a, const A& b) { return a == b ? JacobianPoint<TypeParam>::Infinity() : Add(ToJacobian(a), b); });
  EXPECT_NE(BrokenGroupLaw(no_doubling), "");
}

TYPED_TEST(Curve, GeneratorHasOrderR) {
  const auto& g = Generator<TypeParam>();
  EXPECT_TRUE(IsOnCurve(g));
  EXPECT_TRUE(IsInSubgroup(g));
  EXPECT_TRUE(ScalarMul(ToJacobian(g), FrParams::kModulus).IsInfinity());
}

TYPED_TEST(Curve, ScalarMultiplicationIsRepeatedAddition) {
  const auto& g = Generator<TypeParam>();
  auto sum = JacobianPoint<TypeParam>::Infinity();
  for (uint64_t k = 0; k < 70; ++k) {
    EXPECT_TRUE(ScalarMul(g, Fr::FromU64(k)) == sum) << k;
    EXPECT_TRUE(ScalarMul(g, -Fr::FromU64(k)) == -sum) << k;
    sum += g;
  }
  for (const uint64_t k : {~uint64_t{0}, uint64_t{1} << 63, uint64_t{0x5555555555555555}}) {
    uint64_t limbs[1] = {k};
    auto doubled = JacobianPoint<TypeParam>::Infinity();
    for (int i = 63; i >= 0; --i) {
      doubled = Double(doubled);
      if (k >> i & 1) doubled += g;
    }
    EXPECT_TRUE(ScalarMul(ToJacobian(g), limbs) == doubled);
  }
  EXPECT_TRUE(ScalarMul(AffinePoint<TypeParam>::Infinity(), Fr::FromU64(5)).IsInfinity());
}

TYPED_TEST(Curve, ScalarMultiplicationIsLinear) {
  for (int i = 0; i < 10; ++i) {
    Fr a = RandomFr(), b = RandomFr();
    auto p = ScalarMul(Generator<TypeParam>(), a), q = ScalarMul(Generator<TypeParam>(), b);
    EXPECT_TRUE(p + q == ScalarMul(Generator<TypeParam>(), a + b));
    EXPECT_TRUE(ScalarMul(p, b) == ScalarMul(q, a));
    EXPECT_TRUE((p - p).IsInfinity());
  }
}

TYPED_TEST(Curve, BatchToAffineEqualsOneByOne) {
  std::vector<JacobianPoint<TypeParam>> points;
  for (const auto& p : SamplePoints<TypeParam>(30, 4)) points.push_back(Rescaled(p));
  Points<TypeParam> out(points.size());
  BatchToAffine(points, out);
  for (size_t i = 0; i < points.size(); ++i) EXPECT_EQ(out[i], ToAffine(points[i]));
}

/// Points of the curve for x = 1, 2, ..; nearly all lie outside the subgroup.
std::vector<G1Affine> CurvePoints(Fp) {
  std::vector<G1Affine> points;
  for (uint64_t i = 0; points.size() < 25; ++i) {
    Fp x = Fp::FromU64(i);
    if (auto y = Sqrt(x.Square() * x + CurveB<Fp>())) points.push_back({x, *y});
  }
  return points;
}
std::vector<G2Affine> CurvePoints(Fp2) {
  std::vector<G2Affine> points;
  for (uint64_t i = 0; points.size() < 25; ++i) {
    Fp2 x = {Fp::FromU64(i), Fp::FromU64(i % 3)};
    if (auto y = Sqrt(x.Square() * x + CurveB<Fp2>())) points.push_back({x, *y});
  }
  return points;
}

TYPED_TEST(Curve, MembershipByEndomorphismEqualsMultiplicationByR) {
  size_t outside = 0;
  for (const auto& p : CurvePoints(TypeParam{})) {
    ASSERT_TRUE(IsOnCurve(p));
    auto times_r = ScalarMul(ToJacobian(p), FrParams::kModulus);
    EXPECT_EQ(IsInSubgroup(p), times_r.IsInfinity());
    outside += !IsInSubgroup(p);
    // r p lies in the other factor of the group alone; adding a member does not make a member of it.
    auto other = ToAffine(times_r);
    auto mixed = ToAffine(times_r + Generator<TypeParam>());
    EXPECT_EQ(IsInSubgroup(other), other.IsInfinity());
    EXPECT_EQ(IsInSubgroup(mixed), other.IsInfinity());
  }
  EXPECT_GT(outside, 20u);
  for (const auto& p : SamplePoints<TypeParam>(30, 5)) EXPECT_TRUE(IsInSubgroup(p));
}

TYPED_TEST(Curve, EquationIsChecked) {
  auto p = Generator<TypeParam>();
  EXPECT_FALSE(IsOnCurve(AffinePoint<TypeParam>{p.x, p.x}));
  EXPECT_FALSE(IsOnCurve(AffinePoint<TypeParam>{p.x + TypeParam::One(), p.y}));
  EXPECT_TRUE(IsOnCurve(AffinePoint<TypeParam>::Infinity()));
}

TEST(G1, PhiIsMultiplicationByMinusTheParameterSquared) {
  Fr x = Fr::FromU64(0xd201000000010000);
  for (const auto& p : SamplePoints<Fp>(12, 7)) EXPECT_TRUE(ToJacobian(Phi(p)) == ScalarMul(p, -(x * x)));
}

TEST(G2, PsiIsMultiplicationByTheParameter) {
  // x = -0xd201000000010000 modulo r, and psi acts on the subgroup as its multiple.
  Fr x = -Fr::FromU64(0xd201000000010000);
  for (const auto& p : SamplePoints<Fp2>(12, 6)) EXPECT_TRUE(ToJacobian(Psi(p)) == ScalarMul(p, x));
}

}  // namespace
}  // namespace cuzk::algebra
