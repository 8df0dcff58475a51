#include "daemon/app/parameters/served_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "core/base/file.h"
#include "core/filecoin/types/registry.h"

namespace cuzk::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ServedKindsTest, AKindNeedsParametersOfOneSizeAndADevice) {
  char name[] = "/tmp/cuzkd-kinds-XXXXXX";
  const std::filesystem::path folder = mkdtemp(name);
  engine::EngineStatus status;
  status.devices.push_back({.name = "cpu"});
  EXPECT_THAT(ServedKinds(status, folder), IsEmpty());
  ASSERT_TRUE(WriteFile(folder / filecoin::FindCircuit("wpost-2k")->params_file(), AsBytes("x")).ok());
  EXPECT_THAT(ServedKinds(status, folder), ElementsAre("window"));
  // What is loaded is there, whatever became of its file.
  status.parameters.push_back({.circuit = "snap-32g", .state = prover::ParameterStatus::State::kLoading});
  EXPECT_THAT(ServedKinds(status, folder), ElementsAre("window"));
  status.parameters[0].state = prover::ParameterStatus::State::kReady;
  EXPECT_THAT(ServedKinds(status, folder), ElementsAre("snap", "window"));
  status.devices[0].service = engine::DeviceService::kLost;
  EXPECT_THAT(ServedKinds(status, folder), IsEmpty());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace cuzk::daemon
