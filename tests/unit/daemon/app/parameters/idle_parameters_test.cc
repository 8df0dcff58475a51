#include "daemon/app/parameters/idle_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::daemon {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using State = prover::ParameterStatus::State;

engine::TimePoint At(int second) { return engine::TimePoint{seconds(second)}; }

TEST(IdleParametersTest, ThoseIdleForTheirTimeAreDue) {
  IdleParameters idle({"kept"});
  engine::EngineStatus status;
  status.parameters = {{.circuit = "a", .state = State::kReady},
                       {.circuit = "b", .state = State::kReady, .in_use = true},
                       {.circuit = "kept", .state = State::kReady}};
  EXPECT_THAT(idle.Due(status, At(0), seconds(10)), IsEmpty());
  EXPECT_THAT(idle.Due(status, At(9), seconds(10)), IsEmpty());
  EXPECT_THAT(idle.Due(status, At(10), seconds(10)), ElementsAre("a"));
  EXPECT_THAT(idle.Due(status, At(1000), seconds(0)), IsEmpty());  // no limit

  status.parameters[1].in_use = false;  // the time of b begins
  EXPECT_THAT(idle.Due(status, At(2000), seconds(10)), ElementsAre("a"));
  EXPECT_THAT(idle.Due(status, At(2010), seconds(10)), ElementsAre("a", "b"));
}

TEST(IdleParametersTest, AJobOrAnotherDeviceKeepsThem) {
  IdleParameters idle({});
  engine::EngineStatus status;
  status.parameters = {{.circuit = "a", .state = State::kReady}, {.circuit = "a", .state = State::kLoading}};
  for (int t = 0; t < 30; ++t) EXPECT_THAT(idle.Due(status, At(t), seconds(10)), IsEmpty());
  status.parameters[1].state = State::kReady;
  status.jobs.push_back({.circuit = "a"});
  for (int t = 30; t < 60; ++t) EXPECT_THAT(idle.Due(status, At(t), seconds(10)), IsEmpty());
  status.jobs.clear();
  EXPECT_THAT(idle.Due(status, At(60), seconds(10)), IsEmpty());
  EXPECT_THAT(idle.Due(status, At(70), seconds(10)), ElementsAre("a"));
}

}  // namespace
}  // namespace cuzk::daemon
