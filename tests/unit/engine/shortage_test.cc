// Memory that is short for a while: queued requests cannot take all of it, nobody waits for what never comes, and no
// accepted job ends for want of memory that others are about to give back.

#include <gmock/gmock.h>

#include <future>

#include "core/engine/schedule/policy.h"
#include "tests/unit/engine/small_engine.h"
#include "tests/unit/groth16/scratch_dir.h"

namespace cuzk::engine {
namespace {

using filecoin::Kind;
using memory::MemoryClass;
using testing::HasSubstr;
using testing::StartsWith;
using testing_support::ScratchDir;
using testing_support::SmallEngine;
using testing_support::SmallEngineOptions;
using testing_support::SmallRequest;

uint64_t Used(SmallEngine& engine, MemoryClass memory_class) {
  return engine->Snapshot().budget.used_by_class[static_cast<size_t>(memory_class)];
}

/// What the parameters of one circuit hold, and everything at once for a job of one partition; a budget and a size of
/// requests such that one request leaves room for everything, two leave none for parameters.
struct Needs {
  Needs() {
    SmallEngine probe;
    EXPECT_EQ(probe.Prove("1").state, JobState::kCompleted);
    parameters = Used(probe, MemoryClass::kParameters);
    peak = probe->Snapshot().budget.peak_bytes;
    EXPECT_GT(parameters, 10'000u);
  }
  uint64_t parameters = 0, peak = 0;
  uint64_t request() const { return peak; }
  uint64_t budget() const { return 2 * peak + 10'000; }
};

TEST(Shortage, QueuedRequestsTakeTheirPartOfTheBudgetOnly) {
  SmallEngine engine({.budget = {.limit_bytes = 64 << 20}, .parsed_bytes = 2'400'000});
  engine.device().HoldLoads();
  std::vector<JobTicket> accepted;
  Status refusal;
  while (refusal.ok() && accepted.size() < 100) {
    auto ticket = engine->Submit({.request_id = StrCat(accepted.size()), .vanilla = SmallRequest("1")});
    refusal = ticket.status();
    if (ticket.ok()) accepted.push_back(*ticket);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(refusal)) << refusal;
  EXPECT_THAT(std::string(refusal.message()), StartsWith("no memory for the request: "));
  EXPECT_THAT(std::string(refusal.message()), HasSubstr("of 16777216 bytes are in use"));
  EXPECT_EQ(accepted.size(), 6u);
  EXPECT_LE(Used(engine, MemoryClass::kRequests), uint64_t{16} << 20);
  engine.device().Release();
  for (const JobTicket& ticket : accepted) EXPECT_EQ(engine.Await(ticket).state, JobState::kCompleted);
  EXPECT_EQ(engine.Prove("1").state, JobState::kCompleted);
}

TEST(Shortage, OneRequestAboveThePartIsLetInAlone) {
  SmallEngine engine({.engine = {.max_request_memory = 1000}, .parsed_bytes = 5000});
  engine.device().Hold();
  JobTicket first = engine.Submit("a", "1");
  EXPECT_TRUE(absl::IsResourceExhausted(engine->Submit({.vanilla = SmallRequest("1")}).status()));
  engine.device().Release();
  EXPECT_EQ(engine.Await(first).state, JobState::kCompleted);
  engine.WaitFor([&](const EngineStatus&) { return Used(engine, MemoryClass::kRequests) == 0; });
  EXPECT_EQ(engine.Prove("1").state, JobState::kCompleted);
}

TEST(Shortage, ACircuitThatCanNeverFitIsRefusedWithFiguresAndNothingIsLoaded) {
  const Needs needs;
  SmallEngine engine(
      {.budget = {.limit_bytes = needs.parameters + 1000}, .engine = {.max_request_memory = 1000}, .parsed_bytes = 1});
  for (const char* id : {"first", "second"}) {
    const Status refused = engine->Submit({.request_id = id, .vanilla = SmallRequest("1", Kind::kSnap)}).status();
    EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
    const std::string text(refused.message());
    EXPECT_THAT(text, StartsWith("snap-2k can never fit the memory budget: it needs "));
    EXPECT_THAT(text, HasSubstr(StrCat("and the budget has ", needs.parameters + 1000)));
  }
  EXPECT_EQ(engine.device().calls(testing_support::FaultPoint::kLoad), 0u);
}

TEST(Shortage, ALoadThatRequestsLeaveNoRoomForIsRefusedInWords) {
  const Needs needs;
  // Not even the one request and its parameters fit together.
  SmallEngine engine({.budget = {.limit_bytes = needs.peak + 50'000},
                      .engine = {.max_request_memory = needs.peak},
                      .parsed_bytes = needs.peak + 50'000 - needs.parameters + 1000});
  JobResult result = engine.Prove("1");
  EXPECT_EQ(result.state, JobState::kFailed);
  EXPECT_THAT(result.error, HasSubstr("what is needed for parameters does not fit into the memory budget"));
  EXPECT_THAT(result.error, HasSubstr("will not be released"));
  // A preload that stands alone is served.
  EXPECT_TRUE(engine->Preload("porep-2k").ok());
}

TEST(Shortage, WithoutAStoreTheLoadIsRefusedAndTheEngineGoesOn) {
  const Needs needs;
  SmallEngine engine({.budget = {.limit_bytes = needs.budget()},
                      .engine = {.max_request_memory = needs.budget()},
                      .parsed_bytes = needs.request()});
  JobTicket first = engine.Submit("first", "1 slow");
  JobTicket second = engine.Submit("second", "1");
  engine.work().ReleaseSlow();
  for (const JobTicket& ticket : {first, second}) {
    JobResult result = engine.Await(ticket);
    EXPECT_TRUE(result.state == JobState::kCompleted || result.error.find("will not be released") != std::string::npos)
        << result.error;
  }
  engine.WaitFor([&](const EngineStatus&) { return Used(engine, MemoryClass::kRequests) == 0; });
  EXPECT_EQ(engine.Prove("1").state, JobState::kCompleted);
}

TEST(Shortage, StoredRequestsMakeRoomForParameters) {
  const Needs needs;
  ScratchDir scratch;
  SmallEngine engine({.budget = {.limit_bytes = needs.budget()},
                      .engine = {.max_request_memory = needs.budget(), .state_directory = scratch / "state"},
                      .parsed_bytes = needs.request()});
  JobTicket first = engine.Submit("first", "2 slow");
  JobTicket second = engine.Submit("second", "3");
  engine.work().ReleaseSlow();
  EXPECT_TRUE(engine.Verifies(engine.Await(first), 2));
  EXPECT_TRUE(engine.Verifies(engine.Await(second), 3));
}

/// What remains of a device that was taken out while it had work: two partitions, or a load that nothing stops.
enum class Remains { kPartitions, kLoad };

/// Two devices of which the first is out and hangs with that.
void TakeOutHanging(SmallEngine& engine, Remains remains, std::future<void>& preload) {
  if (remains == Remains::kPartitions) {
    ASSERT_TRUE(engine->SetDevice("GPU-small-1", false).ok());
    engine.device(0).Hang();
    engine.Submit("hangs", "2");
    engine.WaitFor([&](const EngineStatus&) { return engine.device(0).waiting() == 2; });
    ASSERT_TRUE(engine->SetDevice("GPU-small-1", true).ok());
    ASSERT_TRUE(engine->Cancel("hangs").ok());
  } else {
    engine.device(0).HoldLoads();
    preload = std::async(std::launch::async, [&engine] { EXPECT_TRUE(engine->Preload("porep-2k").ok()); });
    engine.WaitFor([&](const EngineStatus&) { return engine.device(0).waiting_loads() == 1; });
  }
  ASSERT_TRUE(engine->SetDevice("GPU-small-0", false).ok());
}

TEST(Shortage, WhatADeviceThatHangsStillHasIsNotWaitedForForEver) {
  const Needs needs;
  for (Remains remains : {Remains::kPartitions, Remains::kLoad}) {
    ScratchDir scratch;
    testing_support::ShiftedClock clock;
    std::future<void> preload;
    SmallEngine engine({.devices = 2,
                        .engine = {.max_request_memory = 4 * needs.request(), .state_directory = scratch / "state"},
                        .parsed_bytes = needs.request(),
                        .clock = &clock,
                        .store_patience = std::chrono::hours(1)});  // the clock is advanced
    TakeOutHanging(engine, remains, preload);
    clock.Advance(std::chrono::minutes(5));
    // One request leaves room for its parameters, two leave none.
    const uint64_t free = engine.budget().limit_bytes() - engine->Snapshot().budget.used_bytes;
    auto rest = engine.budget().TryReserve(MemoryClass::kWitnesses, free - needs.budget());
    ASSERT_TRUE(rest.ok()) << rest.status();
    const JobTicket first = engine.Submit("first", "2 slow", Kind::kSnap);
    const JobTicket second = engine.Submit("second", "3", Kind::kSnap);
    engine.work().ReleaseSlow();
    EXPECT_TRUE(engine.Verifies(engine.Await(first), 2));
    EXPECT_TRUE(engine.Verifies(engine.Await(second), 3));
    rest->Release();
    engine.device(0).Release();
    if (preload.valid()) preload.get();
  }
}

TEST(Shortage, AfterARestartNoStoredJobEndsWhileMemoryIsOnlyLent) {
  const Needs needs;
  for (uint64_t part : {uint64_t{0}, needs.budget()}) {
    ScratchDir scratch;
    SmallEngineOptions options{.engine = {.state_directory = scratch / "state"}};
    {
      SmallEngine before(options);
      before.device().Hold();
      for (int i = 0; i < 4; ++i) before.Submit(StrCat("job ", i), "2");
      before->Drain(std::chrono::steady_clock::now());
    }
    // Now there is less memory: for one request with all that it needs, or for two without parameters.
    options.budget.limit_bytes = needs.budget();
    options.parsed_bytes = needs.request();
    options.engine.max_request_memory = part;
    SmallEngine engine(options);
    for (int i = 0; i < 4; ++i) {
      auto result = engine->Await(StrCat("job ", i), std::chrono::steady_clock::now() + std::chrono::minutes(5));
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_TRUE(engine.Verifies(*result, 2)) << i << ": " << result->error;
    }
  }
}

TEST(Shortage, AStoredJobThatCannotFitAloneEndsInWords) {
  const Needs needs;
  ScratchDir scratch;
  SmallEngineOptions options{.engine = {.state_directory = scratch / "state"}};
  {
    SmallEngine before(options);
    before.device().Hold();
    before.Submit("large", "1");
    before->Drain(std::chrono::steady_clock::now());
  }
  options.budget.limit_bytes = needs.peak;
  options.parsed_bytes = needs.peak + 1;
  SmallEngine engine(options);
  auto result = engine->Await("large", std::chrono::steady_clock::now() + std::chrono::minutes(5));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->state, JobState::kFailed);
  EXPECT_THAT(result->error, StartsWith("no memory for the request: "));
}

TEST(Shortage, MemoryHeldForAJobThatVanishedIsGivenBack) {
  SmallEngine engine({.engine = {.synthesis_threads = 2, .pinned_bytes_per_device = 2 * 65536}});
  engine.device().Hold();
  JobTicket porep = engine.Submit("porep", "9");
  // Two partitions inside the device, the witnesses of two more fill the pool.
  auto full = [&](const EngineStatus& status) {
    return engine.device().waiting() == 2 && status.devices[0].queued == 2 && status.devices[0].pool.used_slabs == 2;
  };
  engine.WaitFor(full);
  const uint64_t before = Used(engine, MemoryClass::kWitnesses);
  // CRITICAL may exceed the device's queue: it gets its host memory, and waits for a lease.
  JobTicket winning = engine.Submit("winning", "1", Kind::kWinning);
  engine.WaitFor([&](const EngineStatus&) { return Used(engine, MemoryClass::kWitnesses) > before; });
  ASSERT_TRUE(engine->Cancel("winning").ok());
  engine.WaitFor([&](const EngineStatus&) { return Used(engine, MemoryClass::kWitnesses) == before; });
  engine.device().Release();
  EXPECT_EQ(engine.Await(porep).state, JobState::kCompleted);
  EXPECT_EQ(engine.Await(winning).state, JobState::kCancelled);
}

/// An engine that has no room for a second PoRep, whichever limit it is.
void ExpectRoomForWinningPostAlone(const EngineOptions& options, const std::string& limit) {
  SmallEngine engine({.engine = options});
  engine.device().Hold();
  engine.Submit("first", "1");
  EXPECT_TRUE(absl::IsResourceExhausted(engine->Submit({.vanilla = SmallRequest("2")}).status())) << limit;
  EXPECT_TRUE(absl::IsResourceExhausted(engine->Submit({.vanilla = SmallRequest("2", Kind::kWindow)}).status()))
      << limit;
  for (uint32_t i = 0; i < kReservedJobs; ++i) {
    auto ticket = engine->Submit({.request_id = StrCat(i), .vanilla = SmallRequest("1", Kind::kWinning)});
    EXPECT_TRUE(ticket.ok()) << limit << ": " << ticket.status();
  }
  engine.device().Release();
  auto last = engine->Await(StrCat(kReservedJobs - 1), std::chrono::steady_clock::now() + std::chrono::minutes(5));
  ASSERT_TRUE(last.ok()) << limit << ": " << last.status();
  EXPECT_TRUE(engine.Verifies(*last, 1)) << limit;
}

TEST(Shortage, AWinningPostHasAReserve) {
  ExpectRoomForWinningPostAlone({.max_unfinished_jobs = 1}, "queue");
  ExpectRoomForWinningPostAlone({.max_request_memory = 1}, "memory");
  testing_support::ScratchDir scratch;
  ExpectRoomForWinningPostAlone({.state_directory = scratch / "state", .max_stored_bytes = 1}, "store");
}

TEST(Shortage, TheReserveOfWinningPostsEnds) {
  SmallEngine engine({.engine = {.max_unfinished_jobs = 1}});
  engine.device().Hold();
  for (uint32_t i = 0; i <= kReservedJobs; ++i) engine.Submit(StrCat(i), "1", Kind::kWinning);
  EXPECT_TRUE(absl::IsResourceExhausted(engine->Submit({.vanilla = SmallRequest("1", Kind::kWinning)}).status()));
}

}  // namespace
}  // namespace cuzk::engine
