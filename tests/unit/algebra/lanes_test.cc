// Eight lanes at a time against the laws of fields and against the scalar types.

#include <gtest/gtest.h>

#include "core/algebra/simd/cpu_arithmetic.h"
#include "tests/unit/algebra/field_laws.h"
#include "tests/unit/algebra/lanes.h"

namespace cuzk::algebra {
namespace {

/// Elements of a field on the lanes of an arithmetic.
template <class Field, Arithmetic kArithmetic>
struct On {
  using F = Field;

  static bool Lacks() { return !IsSupported(kArithmetic); }
  static void Apply(LaneOperation operation, const F* a, const F* b, F* out) {
    if constexpr (kArithmetic == Arithmetic::kFma) {
      ApplyFma(operation, a, b, out);
    } else {
      ApplyIfma(operation, a, b, out);
    }
  }

  static std::vector<F> Run(LaneOperation operation, std::vector<F> a, std::vector<F> b) {
    const size_t n = a.size();
    a.resize((n + 7) / 8 * 8, F::One());
    b.resize(a.size(), F::One());
    std::vector<F> out(a.size());
    for (size_t i = 0; i < a.size(); i += 8) Apply(operation, &a[i], &b[i], &out[i]);
    out.resize(n);
    return out;
  }
};

template <class Lanes>
FieldOperations<typename Lanes::F> LaneField() {
  using Array = std::vector<typename Lanes::F>;
  auto unary = [](LaneOperation o) { return [o](const Array& a) { return Lanes::Run(o, a, a); }; };
  auto binary = [](LaneOperation o) { return [o](const Array& a, const Array& b) { return Lanes::Run(o, a, b); }; };
  FieldOperations<typename Lanes::F> f;
  f.add = binary(LaneOperation::kAdd), f.sub = binary(LaneOperation::kSub), f.mul = binary(LaneOperation::kMul);
  f.negate = unary(LaneOperation::kNegate), f.twice = unary(LaneOperation::kTwice);
  f.square = unary(LaneOperation::kSquare);
  return f;
}

template <class L>
class Lanes : public testing::Test {
 protected:
  void SetUp() override {
    if (L::Lacks()) GTEST_SKIP() << "ifma needs another processor";
  }
};
using Fields = testing::Types<On<Fr, Arithmetic::kIfma>, On<Fp, Arithmetic::kIfma>, On<Fp2, Arithmetic::kIfma>,
                              On<Fp, Arithmetic::kFma>, On<Fp2, Arithmetic::kFma>>;
TYPED_TEST_SUITE(Lanes, Fields);

TYPED_TEST(Lanes, KeepTheLaws) { EXPECT_EQ(BrokenFieldLaw(LaneField<TypeParam>()), ""); }

TYPED_TEST(Lanes, AgreeWithTheScalarType) {
  using F = typename TypeParam::F;
  const Triples<F> t(64, 5);
  const FieldOperations<F> lanes = LaneField<TypeParam>(), host = HostField<F>();
  EXPECT_EQ(lanes.add(t.a, t.b), host.add(t.a, t.b));
  EXPECT_EQ(lanes.sub(t.a, t.b), host.sub(t.a, t.b));
  EXPECT_EQ(lanes.mul(t.a, t.b), host.mul(t.a, t.b));
  EXPECT_EQ(lanes.square(t.a), host.square(t.a));
  EXPECT_EQ(lanes.negate(t.a), host.negate(t.a));
  EXPECT_EQ(TypeParam::Run(LaneOperation::kSumOfMany, t.a, t.b), host.sub(host.add(host.mul(t.a, t.b), t.a), t.b));
}

template <class L>
class PrimeLanes : public Lanes<L> {};
using Primes = testing::Types<On<Fr, Arithmetic::kIfma>, On<Fp, Arithmetic::kIfma>, On<Fp, Arithmetic::kFma>>;
TYPED_TEST_SUITE(PrimeLanes, Primes);

TYPED_TEST(PrimeLanes, AgreeWithDoublingAndAdding) { EXPECT_EQ(BrokenPrimeFieldLaw(LaneField<TypeParam>()), ""); }

TYPED_TEST(PrimeLanes, AreReducedNextToTheModulus) {
  using F = typename TypeParam::F;
  std::vector<F> near_zero(32), none(32, F::Zero());
  for (size_t i = 0; i < near_zero.size(); ++i) near_zero[i].limb[0] = i;
  const FieldOperations<F> lanes = LaneField<TypeParam>(), host = HostField<F>();
  EXPECT_EQ(lanes.add(near_zero, none), near_zero);
  EXPECT_EQ(lanes.negate(near_zero), host.negate(near_zero));
  EXPECT_EQ(lanes.negate(lanes.negate(near_zero)), near_zero);
}

}  // namespace
}  // namespace cuzk::algebra
