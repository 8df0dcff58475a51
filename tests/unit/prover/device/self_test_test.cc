#include "core/prover/device/self_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "core/algebra/curve/point_io.h"
#include "core/algebra/msm/fixed_base.h"
#include "core/circuit/circuit.h"
#include "core/prover/cpu/cpu_device.h"
#include "tests/doubles/faulty_device.h"

namespace cuzk::prover {
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

/// Two small circuits proved on the CPU device, of which one result can be made wrong.
class SelfTestProofs : public ::testing::Test {
 protected:
  ~SelfTestProofs() override { std::filesystem::remove(path_); }

  template <class F, class Write>
  void AppendSection(const groth16::SectionScalars& scalars, groth16::Query query,
                     const algebra::AffinePoint<F>& generator, std::string& bytes, Write write) {
    std::vector<algebra::Fr> values(scalars.counts()[query]);
    scalars.Fill(query, 0, values, pool_);
    std::vector<algebra::AffinePoint<F>> points(values.size());
    algebra::FixedBase<F>(generator, values.size(), pool_).Multiply(values, points, pool_);
    std::array<uint8_t, 4> count;
    StoreBe(count.data(), static_cast<uint32_t>(values.size()));
    bytes.append(count.begin(), count.end());
    for (const auto& point : points) {
      const auto written = write(point);
      bytes.append(written.begin(), written.end());
    }
  }
  /// As a card makes parameters, but through a file.
  StatusOr<std::shared_ptr<const prover::ResidentParameters>> Make(const groth16::SectionScalars& scalars,
                                                                   std::shared_ptr<const r1cs::Shape> shape) {
    made_++;
    const std::vector<uint8_t> key = scalars.key().ToBytes();
    std::string bytes(key.begin(), key.end());
    for (groth16::Query query : groth16::kAllQueries) {
      if (query == groth16::Query::kBG2) {
        AppendSection(scalars, query, algebra::G2Generator(), bytes,
                      [](const auto& point) { return algebra::WriteG2Uncompressed(point); });
      } else {
        AppendSection(scalars, query, algebra::G1Generator(), bytes,
                      [](const auto& point) { return algebra::WriteG1Uncompressed(point); });
      }
    }
    std::ofstream(path_, std::ios::binary) << bytes;
    CUZK_ASSIGN_OR_RETURN(auto file, groth16::ParameterFile::Open(path_, groth16::SectionCounts::Of(*shape)));
    return device_.Load(file, std::move(shape), {});
  }
  Status Test() {
    return TestProofs(
        device_, [this](const auto& scalars, auto shape) { return Make(scalars, std::move(shape)); },
        {SelfTestCircuits()[0], SelfTestCircuits()[0]}, pool_);
  }

  const std::filesystem::path path_ =
      std::filesystem::path(::testing::TempDir()) / StrCat("self-test-", getpid(), ".params");
  ThreadPool pool_{2};
  std::unique_ptr<prover::Device> inner_ = prover::MakeCpuDevice({.pool = &pool_});
  testing_support::FaultyDevice device_{*inner_};
  int made_ = 0;
};

TEST_F(SelfTestProofs, WhatProvesRightPasses) {
  const Status status = Test();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(made_, 2);
}

TEST_F(SelfTestProofs, OneWrongSumInEitherGroupIsFound) {
  for (auto kind : {testing_support::FaultKind::kCorruptH, testing_support::FaultKind::kCorruptB}) {
    device_.ClearFaults();
    device_.Add({testing_support::FaultPoint::kFinish, kind, device_.calls(testing_support::FaultPoint::kFinish) + 1});
    const Status status = Test();
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("rows is wrong"));
  }
}

TEST_F(SelfTestProofs, ErrorsOfTheDeviceArePassedOn) {
  device_.Lose();
  EXPECT_TRUE(absl::IsUnavailable(Test()));
}

TEST(SelfTestCircuitsTest, SumsOfTheLargeOneHaveMoreThanAMillionTerms) {
  const auto shape = circuit::MakeShape(circuit::CircuitSpec(SelfTestCircuits()[1]));
  ASSERT_TRUE(shape.ok());
  const groth16::SectionCounts counts = groth16::SectionCounts::Of(**shape);
  for (groth16::Query query : groth16::kAllQueries) {
    EXPECT_GT(counts[query], uint64_t{1} << 20) << groth16::QueryName(query) << " " << (*shape)->counts.rows;
  }
}

}  // namespace
}  // namespace cuzk::prover
