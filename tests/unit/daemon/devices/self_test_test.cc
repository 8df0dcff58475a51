#include "daemon/devices/self_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "core/algebra/msm/fixed_base.h"

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;

// The processor in the place of a card; one point of one group can be wrong.
class Multiplier : public groth16::BaseMultiplier {
 public:
  explicit Multiplier(ThreadPool& pool) : pool_(pool) {}
  size_t points_at_a_time() const override { return 1 << 10; }
  Status Multiply(std::span<const algebra::Fr> scalars, std::span<algebra::G1Affine> out) override {
    algebra::FixedBase<algebra::Fp>(algebra::G1Generator(), scalars.size(), pool_).Multiply(scalars, out, pool_);
    points = out.size();
    if (wrong_g1) out[*wrong_g1] = algebra::G1Generator();
    return failure;
  }
  Status Multiply(std::span<const algebra::Fr> scalars, std::span<algebra::G2Affine> out) override {
    algebra::FixedBase<algebra::Fp2>(algebra::G2Generator(), scalars.size(), pool_).Multiply(scalars, out, pool_);
    if (wrong_g2) out[*wrong_g2] = algebra::G2Affine::Infinity();
    return absl::OkStatus();
  }

  std::optional<size_t> wrong_g1, wrong_g2;
  Status failure;
  size_t points = 0;

 private:
  ThreadPool& pool_;
};

class SelfTest : public ::testing::Test {
 protected:
  ThreadPool pool_{2};
  Multiplier multiplier_{pool_};
};

TEST_F(SelfTest, WhatComputesRightPasses) {
  EXPECT_TRUE(TestMultiplier(multiplier_, pool_).ok());
  EXPECT_GT(multiplier_.points, 255u);
}

TEST_F(SelfTest, OneWrongPointIsFoundAndNamed) {
  for (size_t i : {0, 100, 255}) {
    multiplier_.wrong_g1 = i;
    Status status = TestMultiplier(multiplier_, pool_);
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(StrCat("G1 is computed wrong (number ", i)));
  }
  multiplier_.wrong_g1.reset();
  multiplier_.wrong_g2 = 256;
  EXPECT_THAT(std::string(TestMultiplier(multiplier_, pool_).message()), HasSubstr("G2 is computed wrong (number 256"));
}

TEST_F(SelfTest, ErrorsOfTheCardArePassedOn) {
  multiplier_.failure = absl::UnavailableError("no kernel image is available");
  EXPECT_TRUE(absl::IsUnavailable(TestMultiplier(multiplier_, pool_)));
}

}  // namespace
}  // namespace cuzk::daemon
