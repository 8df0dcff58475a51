// Eight lanes at a time against the laws of fields and against the scalar types.

#include <gtest/gtest.h>

#include "core/algebra/simd/cpu_arithmetic.h"
#include "tests/unit/algebra/field_laws.h"
#include "tests/unit/algebra/lanes_ifma.h"

namespace cuzk::algebra {
namespace {

template <class F>
std::vector<F> OnLanes(LaneOperation operation, std::vector<F> a, std::vector<F> b) {
  const size_t n = a.size();
  a.resize((n + 7) / 8 * 8, F::One());
  b.resize(a.size(), F::One());
  std::vector<F> out(a.size());
  for (size_t i = 0; i < a.size(); i += 8) ApplyLanes(operation, &a[i], &b[i], &out[i]);
  out.resize(n);
  return out;
}

template <class F>
FieldOperations<F> LaneField() {
  using Array = std::vector<F>;
  auto unary = [](LaneOperation o) { return [o](const Array& a) { return OnLanes(o, a, a); }; };
  auto binary = [](LaneOperation o) { return [o](const Array& a, const Array& b) { return OnLanes(o, a, b); }; };
  FieldOperations<F> f;
  f.add = binary(LaneOperation::kAdd), f.sub = binary(LaneOperation::kSub), f.mul = binary(LaneOperation::kMul);
  f.negate = unary(LaneOperation::kNegate), f.twice = unary(LaneOperation::kTwice);
  f.square = unary(LaneOperation::kSquare);
  return f;
}

template <class F>
class Lanes : public testing::Test {
 protected:
  void SetUp() override {
    if (!IsSupported(Arithmetic::kIfma)) GTEST_SKIP() << "ifma needs another processor";
  }
};
using Fields = testing::Types<Fr, Fp, Fp2>;
TYPED_TEST_SUITE(Lanes, Fields);

TYPED_TEST(Lanes, KeepTheLaws) { EXPECT_EQ(BrokenFieldLaw(LaneField<TypeParam>()), ""); }

TYPED_TEST(Lanes, AgreeWithTheScalarType) {
  using F = TypeParam;
  const Triples<F> t(64, 5);
  const FieldOperations<F> lanes = LaneField<F>(), host = HostField<F>();
  EXPECT_EQ(lanes.add(t.a, t.b), host.add(t.a, t.b));
  EXPECT_EQ(lanes.sub(t.a, t.b), host.sub(t.a, t.b));
  EXPECT_EQ(lanes.mul(t.a, t.b), host.mul(t.a, t.b));
  EXPECT_EQ(lanes.square(t.a), host.square(t.a));
  EXPECT_EQ(lanes.negate(t.a), host.negate(t.a));
  EXPECT_EQ(OnLanes(LaneOperation::kSumOfMany, t.a, t.b), host.sub(host.add(host.mul(t.a, t.b), t.a), t.b));
}

template <class F>
class PrimeLanes : public Lanes<F> {};
using Primes = testing::Types<Fr, Fp>;
TYPED_TEST_SUITE(PrimeLanes, Primes);

TYPED_TEST(PrimeLanes, AgreeWithDoublingAndAdding) { EXPECT_EQ(BrokenPrimeFieldLaw(LaneField<TypeParam>()), ""); }

}  // namespace
}  // namespace cuzk::algebra
