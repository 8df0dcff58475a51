// Who goes when, seen from outside: urgent work passes between partitions, nobody waits for ever, results and memory
// stay bounded over very many jobs.

#include <gmock/gmock.h>

#include <algorithm>
#include <deque>
#include <fstream>

#include "tests/unit/engine/small_engine.h"

namespace cuzk::engine {
namespace {

using filecoin::Kind;
using std::chrono::milliseconds;
using testing_support::SmallEngine;

/// One bar of the exported timeline, in microseconds since the engine's start.
struct Bar {
  std::string name, job;
  int64_t begin = 0, end = 0;
};

std::vector<Bar> BarsOf(const std::string& timeline) {
  std::vector<Bar> bars;
  auto text = [](const std::string& line, const std::string& key) {
    size_t at = line.find(StrCat("\"", key, "\":\""));
    if (at == std::string::npos) return std::string();
    at += key.size() + 4;
    return line.substr(at, line.find('"', at) - at);
  };
  auto number = [](const std::string& line, const std::string& key) {
    return std::stoll(line.substr(line.find(StrCat("\"", key, "\":")) + key.size() + 3));
  };
  std::istringstream lines(timeline);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"ph\":\"X\"") == std::string::npos) continue;
    Bar bar{.name = text(line, "name"), .job = text(line, "job"), .begin = number(line, "ts")};
    bar.end = bar.begin + number(line, "dur");
    bars.push_back(std::move(bar));
  }
  return bars;
}

/// The number of turns that others began in the compute region between a moment and a job's own.
size_t TurnsBefore(const std::vector<Bar>& bars, const std::string& job, int64_t since) {
  int64_t own = 0;
  for (const Bar& bar : bars) {
    if (bar.job == job && bar.name == "transforms") own = bar.begin;
  }
  EXPECT_GT(own, since);
  return static_cast<size_t>(std::count_if(bars.begin(), bars.end(), [&](const Bar& bar) {
    return bar.job != job && bar.name == "transforms" && bar.begin >= since && bar.begin < own;
  }));
}

TEST(Turns, AWinningPostThatArrivesWhileTenPartitionsAreQueuedStartsWithinOnePartitionsTime) {
  SmallEngine engine({.engine = {.synthesis_threads = 2}, .compute = milliseconds(1)});
  for (const char* id : {"warm", "warm again"}) {
    EXPECT_EQ(engine.Await(engine.Submit(id, "9", Kind::kPorep)).state, JobState::kCompleted);  // recorded from now on
  }
  engine.recorded().HoldCompute();
  std::vector<JobTicket> poreps = {engine.Submit("porep 1", "9"), engine.Submit("porep 2", "9")};
  // One worker computes and the other waits for the compute region; two partitions wait for a worker, and the other
  // fourteen are not written yet.
  engine.WaitFor([&](const EngineStatus& status) {
    return engine.recorded().computing() == 1 && engine.recorded().waiting() == 1 && status.devices[0].queued == 2;
  });
  const auto arrival = static_cast<int64_t>(engine->Snapshot().uptime_seconds * 1e6);
  JobTicket winning = engine.Submit("winning", "1", Kind::kWinning);
  engine.WaitFor([&](const EngineStatus&) { return engine.recorded().waiting() == 2; });
  engine.recorded().ReleaseCompute();
  EXPECT_TRUE(engine.Verifies(engine.Await(winning), 1));
  for (const JobTicket& porep : poreps) EXPECT_TRUE(engine.Verifies(engine.Await(porep), 9));
  // The partition that computed when it came was before; after that it is the WinningPoSt's turn.
  EXPECT_EQ(TurnsBefore(BarsOf(engine->TimelineJson()), "winning", arrival), 0u);
}

TEST(Turns, AWinningPostWhoseParametersAreLoadedDoesNotWaitForOthersThatAreNot) {
  SmallEngine engine({.engine = {.synthesis_threads = 2}});
  EXPECT_TRUE(engine.Verifies(engine.Await(engine.Submit("first", "1", Kind::kWinning)), 1));
  engine.device().HoldLoads();
  JobTicket porep = engine.Submit("porep", "1", Kind::kPorep), window = engine.Submit("window", "1", Kind::kWindow);
  // As many as are loaded at once; another one waits for its turn.
  engine.WaitFor([](const EngineStatus& status) {
    return std::count_if(status.parameters.begin(), status.parameters.end(), [](const prover::ParameterStatus& p) {
             return p.state == prover::ParameterStatus::State::kLoading;
           }) == 2;
  });
  JobTicket snap = engine.Submit("snap", "1", Kind::kSnap);
  EXPECT_TRUE(engine.Verifies(engine.Await(engine.Submit("second", "1", Kind::kWinning)), 1));
  EXPECT_EQ(engine->Snapshot().kinds[Kind::kWinning].completed_total, 2u);
  engine.device().Release();
  for (const JobTicket& ticket : {porep, window, snap}) EXPECT_EQ(engine.Await(ticket).state, JobState::kCompleted);
}

TEST(Turns, AWinningPostWhoseParametersAreColdDoesNotWaitForTheLoadsOfOthers) {
  SmallEngine engine({.engine = {.synthesis_threads = 2}});
  engine.device().HoldLoads();
  std::vector<JobTicket> others;
  for (Kind kind : {Kind::kPorep, Kind::kWindow, Kind::kSnap}) {
    others.push_back(engine.Submit(StrCat("cold ", static_cast<int>(kind)), "2", kind, 2));
  }
  // One is inside, the next waits for it, and the third for a thread.
  engine.WaitFor([&](const EngineStatus& status) {
    return engine.device().waiting_loads() == 1 &&
           std::count_if(status.parameters.begin(), status.parameters.end(), [](const prover::ParameterStatus& p) {
             return p.state == prover::ParameterStatus::State::kLoading;
           }) == 2;
  });
  engine.device().LetLoadThrough(1);
  EXPECT_TRUE(engine.Verifies(engine.Await(engine.Submit("winning", "1", Kind::kWinning)), 1));
  // Nothing else was loaded before it, nor is now.
  EXPECT_EQ(engine.device().calls(testing_support::FaultPoint::kLoad), 1u);
  engine.device().Release();
  for (const JobTicket& ticket : others) EXPECT_EQ(engine.Await(ticket).state, JobState::kCompleted);
}

/// A device for PoSt alone, and one for the others.
testing_support::SmallEngineOptions TwoWithKinds() {
  return {.devices = 2,
          .engine = {.synthesis_threads = 2, .quarantine_errors = 3},
          .kinds = {{Kind::kWindow, Kind::kWinning}, {Kind::kPorep, Kind::kWinning}}};
}

TEST(Kinds, ADeviceProvesTheKindsThatItIsFor) {
  using testing_support::FaultPoint;
  SmallEngine engine(TwoWithKinds());
  auto starts = [&](size_t device) { return engine.device(device).calls(FaultPoint::kStart); };
  auto loads = [&](size_t device) { return engine.device(device).calls(FaultPoint::kLoad); };
  EXPECT_TRUE(engine.Verifies(engine.Await(engine.Submit("window", "5", Kind::kWindow)), 5));
  EXPECT_EQ(starts(0), 5u);
  EXPECT_EQ(starts(1) + loads(1), 0u);
  EXPECT_TRUE(engine.Verifies(engine.Await(engine.Submit("porep", "7", Kind::kPorep)), 7));
  EXPECT_EQ(starts(0), 5u);
  EXPECT_EQ(starts(1), 7u);
  // Parameters are loaded where they are used.
  EXPECT_TRUE(engine->Preload("winning-2k").ok());
  EXPECT_EQ(loads(0), 2u);
  EXPECT_EQ(loads(1), 2u);
  EXPECT_TRUE(engine->Preload("wpost-8m").ok());
  EXPECT_EQ(loads(1), 2u);
}

TEST(Kinds, AKindThatNoDeviceProvesIsRefused) {
  SmallEngine engine(TwoWithKinds());
  const Status refused = engine->Submit({.vanilla = testing_support::SmallRequest("1", Kind::kSnap)}).status();
  EXPECT_TRUE(absl::IsUnimplemented(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()),
              testing::HasSubstr("no device of this daemon proves snap (devices.kinds)"));
}

TEST(Kinds, TheLastDeviceOfAKindIsNotTakenOut) {
  SmallEngine engine(TwoWithKinds());
  engine->DoubtDevice(0, "Xid 79");
  EXPECT_EQ(engine->Snapshot().devices[0].service, DeviceService::kDoubted);
  EXPECT_TRUE(engine.Verifies(engine.Await(engine.Submit("window", "2", Kind::kWindow)), 2));
  EXPECT_TRUE(absl::IsFailedPrecondition(engine->SetDevice("GPU-small-1", false).status()));
  // One that is lost leaves its kinds to none.
  engine.device(0).Lose();
  engine.Submit("late", "1", Kind::kWindow);
  engine.WaitFor([](const EngineStatus& status) { return !status.devices[0].lost.empty(); });
  EXPECT_TRUE(
      absl::IsUnavailable(engine->Submit({.vanilla = testing_support::SmallRequest("1", Kind::kWindow)}).status()));
  EXPECT_TRUE(engine.Verifies(engine.Await(engine.Submit("winning", "1", Kind::kWinning)), 1));
}

TEST(Turns, ALowJobIsPassedABoundedNumberOfTimesWhateverComes) {
  SmallEngine engine({.engine = {.synthesis_threads = 2, .overtakes = 4}, .compute = milliseconds(2)});
  EXPECT_EQ(engine.Prove("1").state, JobState::kCompleted);  // recorded from now on
  std::deque<JobTicket> critical;
  int number = 0;
  auto add = [&] { critical.push_back(engine.Submit(StrCat("critical ", number++), "1", Kind::kPorep, 4)); };
  for (int i = 0; i < 8; ++i) add();
  const auto before = static_cast<int64_t>(engine->Snapshot().uptime_seconds * 1e6);
  JobTicket low = engine.Submit("low", "1", Kind::kPorep, 1);
  // Eight CRITICAL jobs are there at any time.
  while (absl::IsDeadlineExceeded(engine->Await(low.key, TimePoint{}).status()) && number < 2000) {
    EXPECT_EQ(engine.Await(critical.front()).state, JobState::kCompleted);
    critical.pop_front();
    add();
  }
  EXPECT_EQ(engine.Await(low).state, JobState::kCompleted);
  // Each stage passes it four times (Scheduler's own test counts them); what is under way meanwhile comes to it, and a
  // thread that the system does not run for a while is passed meanwhile. Without a bound it waits for all two thousand.
  EXPECT_LE(TurnsBefore(BarsOf(engine->TimelineJson()), "low", before), 500u);
  for (const JobTicket& ticket : critical) EXPECT_EQ(engine.Await(ticket).state, JobState::kCompleted);
}

TEST(Turns, ADeadlineEndsAJobAtEveryStage) {
  testing_support::ShiftedClock clock;
  SmallEngine engine({.clock = &clock});
  auto submit = [&](const std::string& id, const std::string& payload, int minutes) {
    auto deadline = clock.Now() + std::chrono::minutes(minutes);
    return *engine->Submit({.request_id = id, .deadline = deadline, .vanilla = testing_support::SmallRequest(payload)});
  };
  auto wait_for = [&](const std::string& id, Stage stage) {
    engine.WaitFor([&](const EngineStatus& status) {
      return std::any_of(status.jobs.begin(), status.jobs.end(), [&](const JobStatus& job) {
        return job.progress.job_id == id && job.progress.stage == stage;
      });
    });
  };
  auto ends_at = [&](const std::string& id, Stage stage) {
    JobTicket ticket = submit(id, "1", 10);
    wait_for(id, stage);
    clock.Advance(std::chrono::minutes(11));
    EXPECT_EQ(engine.Await(ticket).error, StrCat("the deadline passed while the job was at stage ", StageName(stage)));
  };
  engine.device().HoldLoads();
  ends_at("loads", Stage::kLoadingParameters);
  JobTicket slow = submit("slow", "1 slow", 20);  // the one synthesis thread parses it
  wait_for("slow", Stage::kParsing);
  ends_at("queued", Stage::kQueued);
  clock.Advance(std::chrono::minutes(11));
  EXPECT_THAT(engine.Await(slow).error, testing::HasSubstr("at stage parsing"));
  engine.work().ReleaseSlow();
  engine.device().Hold();
  engine.device().ReleaseLoads();
  EXPECT_TRUE(engine->Preload("porep-2k").ok());
  ends_at("device", Stage::kDevice);
  engine.device().Release();
  EXPECT_EQ(engine.Prove("1").state, JobState::kCompleted);
}

uint64_t ResidentBytes() {
  uint64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * 4096;
}

TEST(ContractRows, S8_HundredThousandTinyJobsLeaveNoTrace) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int kJobs = 5'000;
  constexpr bool kMeasure = false;  // freed memory is kept back there
#else
  constexpr int kJobs = 100'000;
  constexpr bool kMeasure = true;
#endif
  SmallEngine engine({.engine = {.max_unfinished_jobs = 1000, .max_results = 500}});
  std::deque<JobTicket> tickets;
  uint64_t baseline = 0;
  for (int i = 0; i < kJobs; ++i) {
    tickets.push_back(engine.Submit(StrCat("tiny ", i), i % 1000 == 0 ? "1" : "1 unreadable", Kind::kWindow));
    if (tickets.size() < 200) continue;
    auto result = engine->Await(tickets.front().key, std::chrono::steady_clock::now() + std::chrono::minutes(5));
    // Only the latest results are kept.
    EXPECT_TRUE(result.ok() || absl::IsNotFound(result.status())) << result.status();
    tickets.pop_front();
    // By then everything that is kept in a bounded number is there.
    if (i == kJobs * 3 / 10) baseline = ResidentBytes();
  }
  engine.Await(tickets.back());
  EngineStatus status = engine->Snapshot();
  EXPECT_EQ(status.kinds[Kind::kWindow].failed_total + status.kinds[Kind::kWindow].completed_total,
            static_cast<uint64_t>(kJobs));
  EXPECT_LE(status.results_kept, 500u);
  EXPECT_LE(kMeasure ? ResidentBytes() : 0, baseline + baseline / 20);
}

}  // namespace
}  // namespace cuzk::engine
