// Every fault that a device, an allocator or the budget can cause: the job ends truthfully, nothing leaks, nothing
// wrong is ever returned.

#include <gmock/gmock.h>

#include <atomic>

#include "tests/unit/engine/small_engine.h"

namespace cuzk::engine {
namespace {

using filecoin::Kind;
using testing::HasSubstr;
using testing_support::Fault;
using testing_support::FaultKind;
using testing_support::FaultPoint;
using testing_support::SmallEngine;
using testing_support::SmallEngineOptions;
using testing_support::SmallRequest;

TEST(Faults, CorruptProofIsProvedOnceMore) {
  std::atomic<int> calls = 0;
  SmallEngine engine({.after_assembly = [&](const std::string&, uint32_t partition, std::span<uint8_t> proof) {
    if (partition == 1 && calls++ == 0) proof[100] ^= 1;
  }});
  JobResult result = engine.Prove("3");
  ASSERT_EQ(result.state, JobState::kCompleted) << result.error;
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(engine->Snapshot().counters.wrong_proofs_total, 1u);
  EXPECT_EQ(engine->Snapshot().counters.retries_total, 1u);
}

TEST(Faults, ProofCorruptedTwiceIsNeverReturned) {
  for (size_t byte : {0, 47, 48, 100, 143, 144, 191}) {
    SmallEngine engine({.after_assembly = [&](const std::string&, uint32_t partition, std::span<uint8_t> proof) {
      if (partition == 0) proof[byte] ^= 1;
    }});
    JobResult result = engine.Prove("2");
    EXPECT_EQ(result.state, JobState::kFailed);
    EXPECT_EQ(result.proof, nullptr);
    EXPECT_THAT(result.error, HasSubstr("partition 0"));
    EXPECT_EQ(engine->Snapshot().counters.wrong_proofs_total, 2u);
  }
}

TEST(Faults, ValidPointsThatDoNotVerifyAreFound) {
  // The proof of another partition: every point is in its group, only the equation does not hold.
  std::array<uint8_t, 192> first{};
  SmallEngine engine({.after_assembly = [&](const std::string&, uint32_t partition, std::span<uint8_t> proof) {
    if (partition == 0) std::ranges::copy(proof, first.begin());
    if (partition == 1) std::ranges::copy(first, proof.begin());
  }});
  JobResult result = engine.Prove("2");
  EXPECT_EQ(result.state, JobState::kFailed);
  EXPECT_THAT(result.error, HasSubstr("partition 1: the proof does not verify"));
}

TEST(Faults, WrongSumsOfOneDeviceAreMadeUpByAnother) {
  for (FaultKind kind : {FaultKind::kCorruptH, FaultKind::kCorruptB}) {
    SmallEngine engine({.devices = 2});
    engine.device(0).Add({FaultPoint::kFinish, kind, 0, 1000});
    engine.ProveUntil([](const EngineStatus& status) { return status.counters.wrong_proofs_total > 0; });
    SmallEngine alone;
    alone.device().Add({FaultPoint::kFinish, kind, 0, 1000});
    EXPECT_EQ(alone.Prove("1").state, JobState::kFailed);
    EXPECT_EQ(alone->Snapshot().counters.wrong_proofs_total, 2u);
  }
}

TEST(Faults, DeviceErrorsAreRetriedAFewTimes) {
  for (FaultPoint point : {FaultPoint::kStart, FaultPoint::kFinish}) {
    for (FaultKind kind : {FaultKind::kOutOfMemory, FaultKind::kInternal}) {
      SmallEngine engine;
      engine.device().Add({point, kind, 1, 2});
      EXPECT_EQ(engine.Prove("3").state, JobState::kCompleted);
      EXPECT_EQ(engine->Snapshot().counters.device_errors_total, 2u);
      engine.device().Add({point, kind, 0, 1000});
      JobResult result = engine.Prove("1");
      EXPECT_EQ(result.state, JobState::kFailed);
      EXPECT_THAT(result.error, HasSubstr("(injected) (after 3 attempts)"));
      EXPECT_THAT(result.error, testing::StartsWith("partition 0: device "));
      EXPECT_TRUE(engine->Ready().ok());  // the device goes on
    }
  }
}

TEST(Faults, LostDeviceFailsJobsWithItsReason) {
  for (FaultPoint point : {FaultPoint::kLoad, FaultPoint::kStart, FaultPoint::kFinish}) {
    SmallEngine engine;
    engine.device().Add({point, FaultKind::kLost, 0, 1});
    JobResult result = engine.Prove("4");
    EXPECT_EQ(result.state, JobState::kFailed);
    EXPECT_THAT(result.error, HasSubstr("no device is left: the device is lost (injected)"));
    EXPECT_TRUE(absl::IsUnavailable(engine->Submit({.vanilla = SmallRequest("1")}).status()));
    EXPECT_TRUE(absl::IsUnavailable(engine->Ready()));
    EXPECT_EQ(engine->Snapshot().counters.devices_lost_total, 1u);
    EXPECT_THAT(engine->Snapshot().devices[0].lost, HasSubstr("lost"));
  }
}

TEST(Faults, AnotherDeviceTakesOverFromALostOne) {
  for (FaultPoint point : {FaultPoint::kLoad, FaultPoint::kStart, FaultPoint::kFinish}) {
    SmallEngine engine({.devices = 2});
    engine.device(0).Add({point, FaultKind::kLost, 0, 1});
    std::vector<JobTicket> tickets;
    for (int i = 0; i < 3; ++i) tickets.push_back(engine.Submit(StrCat("job ", i), "4"));
    for (const JobTicket& ticket : tickets) {
      JobResult result = engine.Await(ticket);
      EXPECT_EQ(result.state, JobState::kCompleted) << result.error;
    }
    engine.ProveUntil([](const EngineStatus& status) { return status.counters.devices_lost_total == 1; });
    EXPECT_TRUE(engine->Ready().ok());
  }
}

TEST(Faults, AJobThatWaitsForTheLastDeviceThatCouldLoadEndsWhenThatIsLost) {
  SmallEngine engine({.devices = 2});
  engine.device(1).HoldLoads();
  engine.device(0).Add({FaultPoint::kLoad, FaultKind::kInternal, 0, 100});
  JobTicket ticket = engine.Submit("job", "2");
  // The first could not load: the second is waited for.
  engine.WaitFor([&](const EngineStatus& status) {
    return engine.device(0).calls(FaultPoint::kLoad) == 1 && engine.device(1).waiting_loads() == 1 &&
           status.parameters.size() == 1;
  });
  engine.device(1).Lose();
  JobResult result = engine.Await(ticket);
  EXPECT_EQ(result.state, JobState::kFailed);
  EXPECT_THAT(result.error, HasSubstr("injected"));
  engine.device(0).ClearFaults();
  EXPECT_EQ(engine.Prove("2").state, JobState::kCompleted);
}

TEST(Faults, LoadErrorsFailTheJobAndTheNextOneTriesAgain) {
  SmallEngine engine;
  engine.device().Add({FaultPoint::kLoad, FaultKind::kOutOfMemory, 0, 1});
  JobResult result = engine.Prove("2");
  EXPECT_EQ(result.state, JobState::kFailed);
  EXPECT_THAT(result.error, HasSubstr("device memory is short (injected)"));
  EXPECT_EQ(engine.Prove("2").state, JobState::kCompleted);
}

TEST(Faults, EveryAllocationThatFailsIsSurvived) {
  size_t survived = 0;
  for (size_t n = 0;; ++n) {
    SmallEngine engine;
    engine.allocator().Fail(n, 1);
    JobResult result = engine.Prove("2");
    bool struck = engine.allocator().calls() > n;
    if (result.state == JobState::kCompleted) {
      survived += struck;
    } else {
      EXPECT_EQ(result.state, JobState::kFailed);
      EXPECT_THAT(result.error, HasSubstr("no memory (injected)")) << n;
    }
    if (!struck) break;
    EXPECT_TRUE(engine.Verifies(engine.Prove("1"), 1)) << n;
    ASSERT_LT(n, 1000u);
  }
  EXPECT_GT(survived, 0u);  // those of a device are retried
}

TEST(Faults, EveryReservationThatIsRefusedIsSurvived) {
  for (int n = 0;; ++n) {
    std::atomic<int> calls = 0;
    SmallEngineOptions options;
    options.budget.refuse = [&](memory::MemoryClass, uint64_t) { return calls++ == n; };
    SmallEngine engine(options);
    auto ticket = engine->Submit({.vanilla = SmallRequest("2")});
    if (!ticket.ok()) {
      EXPECT_TRUE(absl::IsResourceExhausted(ticket.status())) << ticket.status();
    } else {
      JobResult result = engine.Await(*ticket);
      if (result.state != JobState::kCompleted) {
        EXPECT_THAT(result.error, HasSubstr("do not fit into the memory budget")) << n;
      }
    }
    if (calls <= n) break;  // it did not strike any more
    EXPECT_TRUE(engine.Verifies(engine.Prove("1"), 1)) << n;
    ASSERT_LT(n, 1000);
  }
}

TEST(Faults, EveryCallOfADeviceThatFailsIsSurvived) {
  for (FaultPoint point : {FaultPoint::kLoad, FaultPoint::kStart, FaultPoint::kFinish}) {
    for (FaultKind kind : {FaultKind::kOutOfMemory, FaultKind::kInternal}) {
      for (uint64_t n = 0;; ++n) {
        SmallEngine engine;
        engine.device().Add({point, kind, n, 1});
        JobResult result = engine.Prove("3");
        const bool struck = engine.device().calls(point) > n;
        // A partition that a device gives back is proved again; parameters that were not loaded are tried for again by
        // the next job.
        EXPECT_EQ(result.state, struck && point == FaultPoint::kLoad ? JobState::kFailed : JobState::kCompleted);
        EXPECT_TRUE(result.error.empty() || result.error.find("(injected)") != std::string::npos) << result.error;
        EXPECT_EQ(engine->Snapshot().counters.retries_total, struck && point != FaultPoint::kLoad ? 1u : 0u);
        EXPECT_TRUE(engine.Verifies(engine.Prove("2"), 2)) << n;
        if (!struck) break;
      }
    }
  }
}

TEST(Faults, BudgetTooSmallForAWitnessSaysSoInWords) {
  // Room for requests and parameters, none for a lease.
  SmallEngine probe;
  EXPECT_EQ(probe.Prove("1").state, JobState::kCompleted);
  uint64_t parameters = probe->Snapshot().budget.used_by_class[static_cast<size_t>(memory::MemoryClass::kParameters)];
  SmallEngine engine({.budget = {.limit_bytes = parameters + 3000}});
  JobResult result = engine.Prove("1");
  EXPECT_EQ(result.state, JobState::kFailed);
  EXPECT_THAT(result.error, HasSubstr("can never fit the memory budget: it needs "));
}

TEST(Faults, WhatCanNeverFitIsRefusedFromTheFirstRequestOnWithNumbers) {
  for (Kind kind : {Kind::kSnap, Kind::kWindow, Kind::kWinning, Kind::kPorep}) {
    SmallEngine engine({.budget = {.limit_bytes = 20'000}});
    const Status refused = engine->Submit({.vanilla = SmallRequest("1 shown", kind)}).status();
    EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("can never fit the memory budget: it needs "));
    EXPECT_THAT(std::string(refused.message()), HasSubstr("and the budget has 20000"));
    // Nothing was read for it.
    EXPECT_EQ(engine.device().calls(FaultPoint::kLoad), 0u);
    EXPECT_EQ(engine->Snapshot().counters.submitted_total, 0u);
  }
}

/// What a job of the payload failed for, as those who watch it are told.
JobFailure FailureOf(SmallEngine& engine, const std::string& payload) {
  const JobTicket ticket = engine.Submit("", payload);
  EXPECT_EQ(engine.Await(ticket).state, JobState::kFailed);
  auto watcher = engine->Watch(ticket.job_id);
  EXPECT_TRUE(watcher.ok());
  return (*watcher)->Next(std::chrono::steady_clock::now() + std::chrono::minutes(5), {})->failure;
}

TEST(Faults, WhatAJobFailedForIsTold) {
  SmallEngine engine;
  EXPECT_EQ(FailureOf(engine, "1 unreadable"), JobFailure::kInput);
  EXPECT_EQ(FailureOf(engine, "2 bad1"), JobFailure::kInput);
  engine.device().Add({FaultPoint::kStart, FaultKind::kInternal, 0, 1000});
  EXPECT_EQ(FailureOf(engine, "1"), JobFailure::kOther);
  SmallEngine without;
  without.parameters().available = false;
  EXPECT_EQ(FailureOf(without, "1"), JobFailure::kParameters);
}

TEST(Faults, TightBudgetServesManyJobsOfSeveralCircuitsInTurn) {
  SmallEngine probe;
  EXPECT_EQ(probe.Prove("3").state, JobState::kCompleted);
  uint64_t peak = probe->Snapshot().budget.peak_bytes;
  SmallEngine engine({.budget = {.limit_bytes = peak + 20'000}});
  std::vector<JobTicket> tickets;
  for (int i = 0; i < 12; ++i) {
    tickets.push_back(engine.Submit(StrCat("job ", i), "2",
                                    i % 3 == 0   ? Kind::kWinning
                                    : i % 3 == 1 ? Kind::kWindow
                                                 : Kind::kPorep));
  }
  for (const JobTicket& ticket : tickets) {
    JobResult result = engine.Await(ticket);
    EXPECT_EQ(result.state, JobState::kCompleted) << result.error;
  }
  EXPECT_LE(engine->Snapshot().budget.peak_bytes, peak + 20'000);
}

TEST(Faults, DestroyedInTheMiddleOfEverything) {
  for (int round = 0; round < 5; ++round) {
    SmallEngine engine({.devices = 2, .engine = {.synthesis_threads = 2}});
    for (int i = 0; i < 6; ++i)
      engine.Submit(StrCat("job ", i), i == 3 ? "3 slow" : "5", i % 2 ? Kind::kPorep : Kind::kSnap);
    for (int spin = 0; spin < round * 3; ++spin) engine->Snapshot();
    engine.Stop();
  }
}

}  // namespace
}  // namespace cuzk::engine
