#include "core/algebra/curve/pairing.h"

#include <gtest/gtest.h>

#include "tests/unit/algebra/arithmetics.h"
#include "tests/unit/algebra/field_laws.h"
#include "tests/unit/algebra/group_laws.h"

namespace cuzk::algebra {
namespace {

/// Natural numbers for exponents, least significant limb first; no speed asked of them.
using Natural = std::vector<uint64_t>;

Natural Product(const Natural& a, const Natural& b) {
  Natural r(a.size() + b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    unsigned __int128 carry = 0;
    for (size_t j = 0; j < b.size() || carry != 0; ++j) {
      carry += r[i + j];
      if (j < b.size()) carry += static_cast<unsigned __int128>(a[i]) * b[j];
      r[i + j] = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
  }
  return r;
}
bool Less(const Natural& a, const Natural& b) {
  auto limb = [](const Natural& n, size_t i) { return i < n.size() ? n[i] : 0; };
  for (size_t i = std::max(a.size(), b.size()); i-- > 0;) {
    if (limb(a, i) != limb(b, i)) return limb(a, i) < limb(b, i);
  }
  return false;
}
/// a -= b, which is not larger.
void Subtract(Natural& a, const Natural& b) {
  uint64_t borrow = 0;
  for (size_t i = 0; i < a.size(); ++i) borrow = HostLimbs::SubBorrow(a[i], i < b.size() ? b[i] : 0, borrow, a[i]);
  ASSERT_EQ(borrow, 0u);
}
/// The quotient; the division must leave nothing.
Natural Quotient(const Natural& a, const Natural& b) {
  Natural quotient(a.size()), rest(b.size() + 1);
  for (size_t bit = 64 * a.size(); bit-- > 0;) {
    for (size_t i = rest.size(); i-- > 0;) rest[i] = rest[i] << 1 | (i > 0 ? rest[i - 1] >> 63 : 0);
    rest[0] |= a[bit / 64] >> (bit % 64) & 1;
    if (!Less(rest, b)) {
      Subtract(rest, b);
      quotient[bit / 64] |= uint64_t{1} << (bit % 64);
    }
  }
  EXPECT_EQ(rest, Natural(rest.size()));
  return quotient;
}

Natural Modulus() { return Natural(FpParams::kModulus, FpParams::kModulus + 6); }
Natural Order() { return Natural(FrParams::kModulus, FrParams::kModulus + 4); }

TEST(FinalExponentiation, IsThePowerThatItSays) {
  Natural power = {3};
  Natural p12 = {1};
  for (int i = 0; i < 12; ++i) p12 = Product(p12, Modulus());
  Subtract(p12, {1});
  power = Product(power, Quotient(p12, Order()));
  for (const Fp12& f : SampleElements<Fp12>(6, 31)) {
    if (f.IsZero()) continue;
    EXPECT_EQ(FinalExponentiation(f), f.Pow(power));
  }
}

TEST(FinalExponentiation, GivesElementsOfOrderR) {
  for (const Fp12& f : SampleElements<Fp12>(6, 32)) {
    if (f.IsZero()) continue;
    Gt g = FinalExponentiation(f);
    EXPECT_TRUE(g.Pow(Order()).IsOne());
    EXPECT_EQ(g.CyclotomicSquare(), g.Square());
    EXPECT_TRUE((g * g.Conjugate()).IsOne());
  }
}

TEST(Pairing, IsBilinear) {
  const Gt e = Pairing(G1Generator(), G2Generator());
  EXPECT_FALSE(e.IsOne());
  for (int i = 0; i < 4; ++i) {
    Fr a = RandomFr(), b = RandomFr();
    G1Affine p = ToAffine(ScalarMul(G1Generator(), a));
    G2Affine q = ToAffine(ScalarMul(G2Generator(), b));
    EXPECT_EQ(Pairing(p, q), Pow(e, a * b));
    EXPECT_EQ(Pairing(p, G2Generator()), Pow(e, a));
    EXPECT_EQ(Pairing(G1Generator(), q), Pow(e, b));
    EXPECT_EQ(Pairing(-p, q), Pairing(p, -q));
    EXPECT_TRUE((Pairing(-p, q) * Pairing(p, q)).IsOne());
  }
}

TEST(Pairing, IsAdditiveInEachPlace) {
  auto p = SamplePoints<Fp>(8, 33);
  auto q = SamplePoints<Fp2>(8, 34);
  for (size_t i = 0; i + 1 < 8; ++i) {
    EXPECT_EQ(Pairing(TextbookSum(p[i], p[i + 1]), q[7]), Pairing(p[i], q[7]) * Pairing(p[i + 1], q[7]));
    EXPECT_EQ(Pairing(p[7], TextbookSum(q[i], q[i + 1])), Pairing(p[7], q[i]) * Pairing(p[7], q[i + 1]));
  }
}

TEST(Pairing, InfinityGivesOne) {
  EXPECT_TRUE(Pairing(G1Affine::Infinity(), G2Generator()).IsOne());
  EXPECT_TRUE(Pairing(G1Generator(), G2Affine::Infinity()).IsOne());
  EXPECT_TRUE(FinalExponentiation(MillerLoop(std::span<const PreparedPair>())).IsOne());
  const std::vector<G1Affine> p(5, G1Affine::Infinity());
  const std::vector<G2Affine> q(5, G2Generator());
  for (Arithmetic arithmetic : TestedArithmetics()) {
    EXPECT_TRUE(FinalExponentiation(MillerLoop(p, q, arithmetic)).IsOne());
    EXPECT_TRUE(FinalExponentiation(MillerLoop({}, {}, arithmetic)).IsOne());
  }
}

TEST(Pairing, ProductsShareALoop) {
  for (size_t n : {1u, 2u, 3u, 4u, 5u, 8u, 9u, 10u, 25u}) {
    auto p = SamplePoints<Fp>(n, 35);  // infinity is the first
    auto q = SamplePoints<Fp2>(n, 36);
    p.resize(n), q.resize(n);
    std::reverse(q.begin(), q.end());
    Gt expected = Gt::One();
    std::vector<PreparedG2> prepared(q.begin(), q.end());
    std::vector<PreparedPair> pairs;
    for (size_t i = 0; i < n; ++i) {
      expected *= Pairing(p[i], q[i]);
      pairs.push_back({p[i], &prepared[i]});
    }
    for (Arithmetic arithmetic : TestedArithmetics()) {
      EXPECT_EQ(FinalExponentiation(MillerLoop(p, q, arithmetic)), expected) << n << ArithmeticName(arithmetic);
    }
    EXPECT_EQ(FinalExponentiation(MillerLoop(pairs)), expected);
  }
}

TEST(Pairing, PowersInTheTargetGroup) {
  const Gt e = Pairing(G1Generator(), G2Generator());
  EXPECT_TRUE(Pow(e, Fr::Zero()).IsOne());
  EXPECT_EQ(Pow(e, Fr::One()), e);
  EXPECT_EQ(Pow(e, -Fr::One()), e.Conjugate());
  Fr k = RandomFr();
  EXPECT_EQ(Pow(e, k), e.Pow(k.ToCanonical()));
}

}  // namespace
}  // namespace cuzk::algebra
