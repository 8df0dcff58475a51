#include "daemon/devices/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/circuit/circuit.h"
#include "core/filecoin/partition.h"
#include "daemon/common/version.h"

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;
using Place = CircuitFit::Place;

class FitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (Build().cuda == "none") GTEST_SKIP() << "this build has no CUDA back end";
  }
  CircuitFit Fit(std::string_view kind, uint64_t megabytes, unsigned workers = 2) {
    const filecoin::Circuit& circuit = *filecoin::CircuitByNames(kind, "2KiB").value();
    auto shape = circuit::MakeShape(filecoin::SpecOf(circuit)).value();
    return FitCircuit(*shape, PartitionsOf(circuit), {megabytes << 20, 100 << 10, workers}).value();
  }
};

TEST_F(FitTest, ByWhatTheCardHas) {
  EXPECT_EQ(Fit("porep", 24 << 10).place, Place::kResident);
  const CircuitFit streamed = Fit("porep", 1200);
  EXPECT_EQ(streamed.place, Place::kStreamed);
  EXPECT_GT(streamed.host_bytes, uint64_t{670} << 20);  // all points but those of h
  EXPECT_LE(streamed.device_bytes, uint64_t{1200} << 20);
  const CircuitFit none = Fit("porep", 250);
  EXPECT_EQ(none.place, Place::kNo);
  EXPECT_THAT(none.explanation, HasSubstr("there are 235 MiB"));
  EXPECT_EQ(none.workers, 0u);
}

TEST_F(FitTest, ResidentPointsNeverCrossTheBus) {
  const CircuitFit fit = Fit("snap", 24 << 10);
  EXPECT_EQ(fit.place, Place::kResident);
  EXPECT_EQ(fit.host_bytes, 0u);
  EXPECT_LT(fit.partition_bus_bytes, uint64_t{32} << 20);
}

TEST_F(FitTest, PartitionsOfAProofShareWhatCrossesTheBus) {
  const filecoin::Circuit& circuit = *filecoin::CircuitByNames("porep", "2KiB").value();
  auto shape = circuit::MakeShape(filecoin::SpecOf(circuit)).value();
  const FitCard card{uint64_t{1200} << 20, 100 << 10, 4};
  const CircuitFit one = FitCircuit(*shape, 1, card).value(), four = FitCircuit(*shape, 4, card).value(),
                   five = FitCircuit(*shape, 5, card).value();
  EXPECT_EQ(one.workers, 4u);
  EXPECT_EQ(one.proof_bus_bytes, one.partition_bus_bytes);
  EXPECT_LT(four.proof_bus_bytes, 2 * one.partition_bus_bytes);
  EXPECT_GT(five.proof_bus_bytes, four.proof_bus_bytes + (uint64_t{500} << 20));
}

TEST(PartitionsOfTest, IsWhatAProofHas) {
  EXPECT_EQ(PartitionsOf(*filecoin::CircuitByNames("porep", "32GiB").value()), 10u);
  EXPECT_EQ(PartitionsOf(*filecoin::CircuitByNames("snap", "32GiB").value()), 16u);
  EXPECT_EQ(PartitionsOf(*filecoin::CircuitByNames("window", "32GiB").value()), 1u);
}

}  // namespace
}  // namespace cuzk::daemon
