#include "daemon/app/parameters/preloaded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;
using State = prover::ParameterStatus::State;

const std::map<std::string, uint64_t> kBytes = {{"wpost-32g", uint64_t{58} << 30}, {"snap-32g", uint64_t{32} << 30}};

engine::EngineStatus StatusWith(std::vector<prover::ParameterStatus> parameters) {
  engine::EngineStatus status;
  status.devices.push_back({.name = "NVIDIA H200", .memory = {.total = uint64_t{139} << 30}});
  status.parameters = std::move(parameters);
  return status;
}

TEST(PreloadedAreHeldTest, AllReady) {
  const auto status =
      StatusWith({{.circuit = "wpost-32g", .state = State::kReady}, {.circuit = "snap-32g", .state = State::kReady}});
  EXPECT_TRUE(PreloadedAreHeld({"wpost-32g", "snap-32g"}, kBytes, status).ok());
  EXPECT_TRUE(PreloadedAreHeld({}, {}, status).ok());
}

TEST(PreloadedAreHeldTest, OneThatWasDroppedIsAnErrorWithItsNumbers) {
  const auto status =
      StatusWith({{.circuit = "wpost-32g", .state = State::kLoading}, {.circuit = "snap-32g", .state = State::kReady}});
  const Status held = PreloadedAreHeld({"wpost-32g", "snap-32g"}, kBytes, status);
  ASSERT_TRUE(absl::IsResourceExhausted(held));
  EXPECT_THAT(std::string(held.message()), HasSubstr("params.preload: wpost-32g cannot stay loaded"));
  EXPECT_THAT(std::string(held.message()), HasSubstr("wpost-32g 59392 MiB, snap-32g 32768 MiB"));
  EXPECT_THAT(std::string(held.message()), HasSubstr("NVIDIA H200 142336 MiB"));
}

}  // namespace
}  // namespace cuzk::daemon
