#include "tests/unit/algebra/field_laws.h"

#include <gtest/gtest.h>

namespace cuzk::algebra {
namespace {

template <class F>
class HostFields : public testing::Test {};
using Fields =
    testing::Types<Fr, Fp, MontField<FrParams, PortableLimbs>, MontField<FpParams, PortableLimbs>, Fp2, Fp6, Fp12>;
TYPED_TEST_SUITE(HostFields, Fields);

TYPED_TEST(HostFields, KeepTheLaws) { EXPECT_EQ(BrokenFieldLaw(HostField<TypeParam>()), ""); }

template <class F>
class PrimeFields : public testing::Test {};
using Primes = testing::Types<Fr, Fp, MontField<FrParams, PortableLimbs>, MontField<FpParams, PortableLimbs>>;
TYPED_TEST_SUITE(PrimeFields, Primes);

TYPED_TEST(PrimeFields, AgreeWithDoublingAndAdding) { EXPECT_EQ(BrokenPrimeFieldLaw(HostField<TypeParam>()), ""); }

TYPED_TEST(PrimeFields, PowersAndBytesGoRoundTrip) {
  for (const TypeParam& x : SampleElements<TypeParam>(60, 3)) {
    EXPECT_EQ(TypeParam::FromCanonical(x.ToCanonical()), x);
    auto bytes = x.ToBytesLe();
    EXPECT_EQ(TypeParam::FromBytesLe(bytes), x);
    EXPECT_EQ(x.Pow(5), x * x * x * x * x);
    EXPECT_EQ(x.Pow(0), TypeParam::One());
  }
  EXPECT_EQ(TypeParam::FromI64(-3) + TypeParam::FromU64(3), TypeParam::Zero());
}

// The suite sees what it is there to see: one wrong bit, an unreduced result, a wrong special case.
TEST(FieldLaws, FindABrokenDouble) {
  auto broken = HostField<Fp>();
  broken.mul = [](const std::vector<Fp>& a, const std::vector<Fp>& b) {
    auto r = HostField<Fp>().mul(a, b);
    for (Fp& x : r) x.limb[5] &= ~uint64_t{1};
    return r;
  };
  EXPECT_NE(BrokenFieldLaw(broken), "");
  broken = HostField<Fp>();
  broken.inverse = [](const std::vector<Fp>& a) { return a; };
  EXPECT_EQ(BrokenFieldLaw(broken), "a times its inverse is not one");
  broken = HostField<Fp>();
  broken.add = [](const std::vector<Fp>& a, const std::vector<Fp>& b) {  // p is left where it should be zero
    auto r = HostField<Fp>().add(a, b);
    for (size_t i = 0; i < r.size(); ++i) {
      if (r[i].IsZero() && !a[i].IsZero()) r[i] = Fp::FromMontgomery(FpParams::kModulus);
    }
    return r;
  };
  EXPECT_EQ(BrokenPrimeFieldLaw(broken), "a result is not reduced");
}

TEST(Fp, DerivedConstantsAreTheKnownOnes) {
  EXPECT_EQ(Fp::Constants::kNegInverse, 0x89f3fffcfffcfffdu);
  EXPECT_EQ(Fp::Constants::kOne.v[0], 0x760900000002fffdu);
  EXPECT_EQ(Fp::Constants::kOne.v[5], 0x15f65ec3fa80e493u);
  EXPECT_EQ(Fp::Constants::kRSquared.v[0], 0xf4df1f341c341746u);
  EXPECT_EQ(Fp::Constants::kRSquared.v[5], 0x11988fe592cae3aau);
}

TEST(Fp, SquareRoots) {
  size_t squares = 0;
  for (const Fp& x : SampleElements<Fp>(200, 11)) {
    auto root = Sqrt(x.Square());
    ASSERT_TRUE(root.has_value());
    EXPECT_TRUE(*root == x || *root == -x);
    auto other = Sqrt(x);
    if (other) {
      EXPECT_EQ(other->Square(), x);
    }
    // -1 is no square: exactly one of x and -x has a root, unless zero.
    if (!x.IsZero()) {
      EXPECT_NE(other.has_value(), Sqrt(-x).has_value());
    }
    squares += other.has_value();
  }
  EXPECT_GT(squares, 50u);
}

TEST(Fp2, SquareRoots) {
  std::vector<Fp2> samples = SampleElements<Fp2>(200, 12);
  for (const Fp& x : SampleElements<Fp>(40, 13)) samples.push_back({x, Fp::Zero()}), samples.push_back({Fp::Zero(), x});
  size_t squares = 0;
  for (const Fp2& x : samples) {
    auto root = Sqrt(x.Square());
    ASSERT_TRUE(root.has_value());
    EXPECT_TRUE(*root == x || *root == -x);
    auto other = Sqrt(x);
    if (other) {
      EXPECT_EQ(other->Square(), x);
    }
    // x is a square if and only if its norm is one in Fp.
    EXPECT_EQ(other.has_value(), Sqrt(x.Norm()).has_value());
    squares += other.has_value();
  }
  EXPECT_GT(squares, 50u);
  EXPECT_LT(squares, samples.size());
}

TEST(Fp2, LargerLooksAtC1First) {
  Fp one = Fp::One();
  EXPECT_FALSE(IsLarger(one));
  EXPECT_TRUE(IsLarger(-one));
  EXPECT_FALSE(IsLarger(Fp::Zero()));
  EXPECT_TRUE(IsLarger(Fp2{one, -one}));
  EXPECT_FALSE(IsLarger(Fp2{-one, one}));
  EXPECT_TRUE(IsLarger(Fp2{-one, Fp::Zero()}));
  for (const Fp2& x : SampleElements<Fp2>(50, 14)) {
    if (!x.IsZero()) {
      EXPECT_NE(IsLarger(x), IsLarger(-x));
    }
  }
}

TEST(Towers, SparseProductsEqualFullOnes) {
  auto a = SampleElements<Fp12>(20, 15);
  auto b = SampleElements<Fp2>(60, 16);
  for (size_t i = 0; i < 20; ++i) {
    const Fp2 &x = b[3 * i], &y = b[3 * i + 1], &z = b[3 * i + 2], o = Fp2::Zero();
    EXPECT_EQ(a[i].MulBy014(x, y, z), (a[i] * Fp12{{x, y, o}, {o, z, o}}));
    EXPECT_EQ(a[i].c0.MulBy01(x, y), (a[i].c0 * Fp6{x, y, o}));
    EXPECT_EQ(a[i].c0.MulBy1(y), (a[i].c0 * Fp6{o, y, o}));
    EXPECT_EQ(a[i].c0.MulByNonResidue(), (a[i].c0 * Fp6{o, Fp2::One(), o}));
    EXPECT_EQ(x.MulByNonResidue(), (x * Fp2{Fp::One(), Fp::One()}));
  }
}

TEST(BatchInvert, LeavesZerosAndInvertsTheRest) {
  for (size_t n : {0u, 1u, 2u, 33u}) {
    auto x = SampleElements<Fp>(n, 17);
    x.resize(n);
    auto y = x;
    std::vector<Fp> scratch(n);
    BatchInvert<Fp>(y, scratch);
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], x[i].Inverse());
  }
}

}  // namespace
}  // namespace cuzk::algebra
