#include "core/algebra/ntt/ntt.h"

#include <gtest/gtest.h>

#include "tests/unit/algebra/arithmetics.h"
#include "tests/unit/algebra/ntt_laws.h"

namespace cuzk::algebra {
namespace {

class NttTest : public testing::TestWithParam<Arithmetic> {};

TEST_P(NttTest, LawsHoldForEverySize) {
  ThreadPool pool(2);
  for (unsigned bits = 0; bits <= 15; ++bits) {
    Domain domain(bits, GetParam());
    EXPECT_EQ(BrokenNttLaw(ProcessorNtt(domain, pool), bits), "") << "size 2^" << bits;
  }
}

TEST_P(NttTest, ThreadsDoNotChangeTheResult) {
  Domain domain(13, GetParam());
  std::vector<Fr> one = NttElements(domain.size(), 3), four = one;
  ThreadPool single(1), several(4);
  CosetNtt(one, domain, single);
  CosetNtt(four, domain, several);
  EXPECT_EQ(one, four);
}

TEST_P(NttTest, AllZeroAndAllMinusOne) {
  ThreadPool pool(1);
  Domain domain(11, GetParam());
  std::vector<Fr> x(domain.size(), Fr::Zero());
  Ntt(x, domain, pool);
  EXPECT_EQ(x, std::vector<Fr>(domain.size(), Fr::Zero()));
  std::fill(x.begin(), x.end(), -Fr::One());
  Ntt(x, domain, pool);
  EXPECT_EQ(x[0], -Fr::FromU64(domain.size()));
  EXPECT_TRUE(std::all_of(x.begin() + 1, x.end(), [](const Fr& e) { return e.IsZero(); }));
}

TEST_P(NttTest, PointByPointOfAnyLength) {
  ThreadPool pool(2);
  const Fr scale = Fr::FromU64(12345).Inverse();
  for (size_t n : {0, 1, 7, 8, 9, 1024, 3001}) {
    std::vector<Fr> a = NttElements(n, 1), b = NttElements(n, 2), products, differences;
    for (size_t i = 0; i < n; ++i) {
      products.push_back(a[i] * b[i]);
      differences.push_back((a[i] - b[i]) * scale);
    }
    std::vector<Fr> x = a;
    MultiplyPoints(x, b, GetParam(), pool);
    EXPECT_EQ(x, products) << n;
    x = a;
    SubtractAndScale(x, b, scale, GetParam(), pool);
    EXPECT_EQ(x, differences) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Arithmetics, NttTest, testing::ValuesIn(TestedArithmetics()),
                         [](const auto& info) { return std::string(ArithmeticName(info.param)); });

TEST(Domain, Constants) {
  ThreadPool pool(1);
  Domain domain(27, Arithmetic::kScalar);
  EXPECT_EQ(ToHex(domain.root().ToBytesBe()), "23397a9300f8f98bece8ea224f31d25db94f1101b1d7a628e2d0a7869f0319ed");
  EXPECT_EQ(ToHex(domain.CosetVanishingInverse().ToBytesBe()),
            "3cce2cbbce03d6bc82b2f0a62b7b100042289e15615b53f25f7d431bd40e5f31");
  EXPECT_TRUE((domain.root() * domain.root_inverse()).IsOne());
  EXPECT_EQ(domain.size_inverse() * Fr::FromU64(domain.size()), Fr::One());
}

TEST(ReverseOrder, EverySize) {
  ThreadPool pool(2);
  for (unsigned bits = 0; bits <= 14; ++bits) {
    std::vector<Fr> x = NttElements(size_t{1} << bits, bits), y = x;
    ReverseOrder(y, pool);
    EXPECT_EQ(y, NttInReversedOrder(x, bits)) << "size 2^" << bits;
  }
}

TEST(NttLaws, FindBrokenDoubles) {
  ThreadPool pool(1);
  Domain domain(8, Arithmetic::kScalar);
  NttOperations good = ProcessorNtt(domain, pool);
  ASSERT_EQ(BrokenNttLaw(good, 8), "");
  auto off_by_one_value = [](NttOperations::Transform f) {
    return [f](std::span<Fr> x) {
      f(x);
      x[x.size() / 3] += Fr::One();
    };
  };
  for (auto member :
       {&NttOperations::ntt, &NttOperations::inverse, &NttOperations::coset, &NttOperations::inverse_coset,
        &NttOperations::ntt_to_reversed, &NttOperations::inverse_to_reversed, &NttOperations::coset_to_reversed,
        &NttOperations::ntt_from_reversed, &NttOperations::inverse_from_reversed,
        &NttOperations::inverse_coset_from_reversed}) {
    NttOperations broken = good;
    broken.*member = off_by_one_value(good.*member);
    EXPECT_NE(BrokenNttLaw(broken, 8), "");
  }
  NttOperations broken = good;
  broken.coset = good.ntt;  // forgets the shift
  EXPECT_NE(BrokenNttLaw(broken, 8), "");
  broken = good;
  broken.quotient = [&](std::span<Fr> a, std::span<Fr> b, std::span<Fr> c) {
    good.quotient(a, b, c);
    a[0] += Fr::One();
  };
  EXPECT_EQ(BrokenNttLaw(broken, 8), "the quotient divides by x^n - 1");
}

}  // namespace
}  // namespace cuzk::algebra
