// The end of an engine that others cause: its last device is lost, or it is to stop while it loads.

#include <gmock/gmock.h>

#include <algorithm>
#include <thread>

#include "tests/unit/engine/small_engine.h"
#include "tests/unit/groth16/scratch_dir.h"

namespace cuzk::engine {
namespace {

using std::chrono::minutes;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing_support::FaultKind;
using testing_support::FaultPoint;
using testing_support::ScratchDir;
using testing_support::SmallEngine;
using testing_support::SmallEngineOptions;
using testing_support::SmallRequest;

TEST(Loss, IsAnnouncedOnceTheLastDeviceIsGone) {
  SmallEngine engine({.devices = 2});
  std::stop_source stop;
  std::atomic<bool> announced = false;
  std::jthread listener([&] {
    Status loss = engine->AwaitLoss(stop.get_token());
    announced = true;
    EXPECT_TRUE(absl::IsUnavailable(loss)) << loss;
    EXPECT_THAT(std::string(loss.message()), HasSubstr("no device is left: the device is lost (injected)"));
  });
  engine.device(0).Add({FaultPoint::kStart, FaultKind::kLost, 0, 1});
  engine.ProveUntil([](const EngineStatus& status) { return status.counters.devices_lost_total == 1; });
  EXPECT_FALSE(announced);
  EXPECT_TRUE(engine->Ready().ok());
  engine.device(1).Add({FaultPoint::kStart, FaultKind::kLost, 0, 1000});
  EXPECT_EQ(engine.Prove("1").state, JobState::kFailed);
  listener.join();
  EXPECT_TRUE(announced);
  EXPECT_TRUE(absl::IsUnavailable(engine->Ready()));
}

TEST(Loss, AwaitingItCanBeStopped) {
  SmallEngine engine;
  std::stop_source stop;
  std::jthread listener([&] { EXPECT_TRUE(engine->AwaitLoss(stop.get_token()).ok()); });
  stop.request_stop();
}

TEST(Loss, StoredJobsAreKeptForTheNextStart) {
  ScratchDir scratch;
  SmallEngineOptions options{.engine = {.state_directory = scratch / "state"}};
  std::vector<std::string> ids;
  {
    SmallEngine engine(options);
    engine.device().Hold();
    for (int i = 0; i < 3; ++i) ids.push_back(engine.Submit(StrCat("job ", i), "2").job_id);
    engine.WaitFor([&](const EngineStatus&) { return engine.device().waiting() > 0; });
    engine.device().Add({FaultPoint::kFinish, FaultKind::kLost, 0, 1});
    engine.device().Release();
    for (const std::string& id : ids) {
      Status kept = engine->Await(id, steady_clock::now() + minutes(5)).status();
      EXPECT_TRUE(absl::IsUnavailable(kept)) << kept;
      EXPECT_THAT(std::string(kept.message()), HasSubstr(StrCat("no device is left: ")));
      EXPECT_THAT(std::string(kept.message()), HasSubstr(StrCat("; job ", id, " is kept and continues at the next")));
      // It will be proved: who wants it gone must ask the next daemon.
      EXPECT_TRUE(absl::IsUnavailable(engine->Cancel(id).status()));
    }
    EXPECT_FALSE(engine->AwaitLoss({}).ok());
    EXPECT_TRUE(absl::IsUnavailable(engine->Submit({.vanilla = SmallRequest("1")}).status()));
    EXPECT_TRUE(absl::IsUnavailable(engine->Preload("porep-2k").status()));
    EXPECT_EQ(engine->Drain(steady_clock::now() + minutes(5)), 0u);  // nothing is left to wait for
  }
  SmallEngine engine(options);
  for (const std::string& id : ids) {
    auto result = engine->Await(id, steady_clock::now() + minutes(5));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->state, JobState::kCompleted) << result->error;
  }
}

TEST(Stopping, APreloadEndsWhenItsCallerStops) {
  SmallEngine engine;
  engine.device().HoldLoads();
  std::stop_source stop;
  std::jthread caller([&] { EXPECT_TRUE(absl::IsCancelled(engine->Preload("porep-2k", stop.get_token()).status())); });
  engine.WaitFor([&](const EngineStatus&) { return engine.device().waiting_loads() == 1; });
  stop.request_stop();
  caller.join();
  engine.device().Release();
  EXPECT_FALSE(engine->Preload("porep-2k")->already_loaded);
}

TEST(Stopping, APreloadEndsWhenTheEngineIsDrained) {
  SmallEngine engine;
  engine.device().HoldLoads();
  std::jthread caller([&] {
    Status status = engine->Preload("porep-2k").status();
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("draining"));
  });
  engine.WaitFor([&](const EngineStatus&) { return engine.device().waiting_loads() == 1; });
  EXPECT_EQ(engine->Drain(steady_clock::now()), 0u);
  caller.join();
  EXPECT_TRUE(absl::IsUnavailable(engine->Preload("porep-2k").status()));
}

TEST(Stopping, ALoadEndsOnceNobodyWaitsForIt) {
  SmallEngine engine;
  engine.device().HoldLoads();
  JobTicket first = engine.Submit("first", "1"), second = engine.Submit("second", "1");
  engine.WaitFor([&](const EngineStatus& status) {
    return engine.device().waiting_loads() == 1 && std::all_of(status.jobs.begin(), status.jobs.end(), [](auto& job) {
             return job.progress.stage == Stage::kLoadingParameters;
           });
  });
  EXPECT_TRUE(engine->Cancel("first").ok());
  EXPECT_EQ(engine.device().waiting_loads(), 1u);  // for the second
  EXPECT_TRUE(engine->Cancel("second").ok());
  engine.WaitFor([&](const EngineStatus&) { return engine.device().waiting_loads() == 0; });
  // Whoever comes later has them loaded.
  JobTicket third = engine.Submit("third", "1");
  engine.WaitFor([&](const EngineStatus&) { return engine.device().waiting_loads() == 1; });
  engine.device().Release();
  EXPECT_EQ(engine.Await(third).state, JobState::kCompleted);
  EXPECT_EQ(engine.Await(second).state, JobState::kCancelled);
}

TEST(Stopping, LoadsForJobsEndWhenTheEngineIsDrained) {
  SmallEngine engine;
  engine.device().HoldLoads();
  JobTicket ticket = engine.Submit("a", "1");
  engine.WaitFor([&](const EngineStatus&) { return engine.device().waiting_loads() == 1; });
  EXPECT_EQ(engine->Drain(steady_clock::now()), 1u);
  EXPECT_EQ(engine.Await(ticket).state, JobState::kFailed);
  engine.WaitFor([&](const EngineStatus&) { return engine.device().waiting_loads() == 0; });
}

}  // namespace
}  // namespace cuzk::engine
