#include "core/algebra/field/inverse.h"

#include <gtest/gtest.h>

#include <random>

#include "core/algebra/field/fp.h"
#include "core/algebra/field/fr.h"

namespace cuzk::algebra {
namespace {

template <class F>
class InverseTest : public testing::Test {};
using Fields = testing::Types<Fr, Fp>;
TYPED_TEST_SUITE(InverseTest, Fields);

TYPED_TEST(InverseTest, TimesItselfIsOne) {
  using F = TypeParam;
  std::mt19937_64 random(7);
  F x = F::FromU64(random());
  for (int i = 0; i < 2000; ++i) {
    x = x.Square() + F::FromU64(random());
    EXPECT_EQ(x * x.Inverse(), F::One());
  }
  for (int64_t k = 1; k < 300; ++k) {
    EXPECT_EQ(F::FromI64(k) * F::FromI64(k).Inverse(), F::One());
    EXPECT_EQ(F::FromI64(-k) * F::FromI64(-k).Inverse(), F::One());
  }
}

TYPED_TEST(InverseTest, PowersOfTwoInMemoryForm) {
  using F = TypeParam;
  for (unsigned bit = 0; bit < 64 * F::kLimbs - 4; ++bit) {
    F x = F::Zero();
    x.limb[bit / 64] = uint64_t{1} << (bit % 64);
    EXPECT_EQ(x * x.Inverse(), F::One()) << bit;
  }
}

TYPED_TEST(InverseTest, ZeroStaysZero) { EXPECT_EQ(TypeParam::Zero().Inverse(), TypeParam::Zero()); }

TYPED_TEST(InverseTest, IsWhatTheCompilerComputes) {
  using F = TypeParam;
  static constexpr F kSeventh = F::FromU64(7).Inverse();  // by Fermat
  EXPECT_EQ(F::FromU64(7).Inverse(), kSeventh);
}

}  // namespace
}  // namespace cuzk::algebra
