// What an operator sees of the engine.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <set>

#include "tests/unit/engine/small_engine.h"

namespace cuzk::engine {
namespace {

using filecoin::Kind;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_support::SmallEngine;
using testing_support::SmallEngineOptions;

constexpr std::chrono::minutes kLong{5};

uint32_t Unfinished(const EngineStatus& status) {
  uint32_t sum = 0;
  for (const auto& [kind, counts] : status.kinds) sum += counts.pending + counts.in_progress;
  return sum;
}

// However many partitions and workers a job has, and however many callers share it.
TEST(Status, S07_EveryAcceptedAndUnfinishedJobIsCountedOnce) {
  SmallEngine engine({.devices = 2});
  engine.device(0).Hold();
  engine.device(1).Hold();
  JobTicket first = engine.Submit("a", "9");
  EXPECT_TRUE(engine.Submit("a", "9").joined);
  JobTicket second = engine.Submit("b", "3", Kind::kSnap);
  engine.WaitFor([&](const EngineStatus&) { return engine.device(0).waiting() + engine.device(1).waiting() == 4; });
  EngineStatus status = engine->Snapshot();
  EXPECT_EQ(Unfinished(status), 2u);
  EXPECT_EQ(status.kinds[Kind::kPorep].in_progress + status.kinds[Kind::kPorep].pending, 1u);
  EXPECT_EQ(status.kinds[Kind::kSnap].in_progress + status.kinds[Kind::kSnap].pending, 1u);
  EXPECT_EQ(status.counters.submitted_total, 2u);
  EXPECT_EQ(status.counters.joined_total, 1u);
  engine.device(0).Release();
  engine.device(1).Release();
  EXPECT_EQ(engine.Await(first).state, JobState::kCompleted);
  EXPECT_EQ(engine.Await(second).state, JobState::kCompleted);
  status = engine->Snapshot();
  EXPECT_EQ(Unfinished(status), 0u);
  EXPECT_EQ(status.kinds[Kind::kPorep].completed_total + status.kinds[Kind::kSnap].completed_total, 2u);
}

// Read is not begun: requests are parsed while they wait.
TEST(Status, AJobIsPendingUntilAPartitionOfItBegins) {
  testing_support::ShiftedClock clock;
  SmallEngine engine({.engine = {.synthesis_threads = 1}, .clock = &clock});
  engine.device().Hold();
  std::vector<JobTicket> tickets;
  for (int i = 0; i < 12; ++i) tickets.push_back(engine.Submit(StrCat("job ", i), "1"));
  engine.WaitFor([&](const EngineStatus& status) {
    size_t parsed = 0;
    for (const JobStatus& job : status.jobs) parsed += job.progress.partitions_total > 0;
    // Both workers have one, two wait for a worker: the others have nothing to do but wait.
    return parsed == tickets.size() && engine.device().waiting() == 2 && status.devices[0].queued == 2;
  });
  const EngineStatus status = engine->Snapshot();
  const KindStatus& porep = status.kinds.at(Kind::kPorep);
  EXPECT_EQ(porep.pending + porep.in_progress, tickets.size());
  EXPECT_GT(porep.pending, tickets.size() / 2);
  clock.Advance(std::chrono::seconds(1));  // what was told to watchers before is too old
  uint32_t last = 0;
  for (const JobStatus& job : status.jobs) {
    EXPECT_EQ(job.progress.jobs_before, job.place > 0 ? job.place - 1 : 0) << job.progress.job_id;
    const auto listed = engine->FindJob(job.progress.job_id);
    ASSERT_TRUE(listed.ok() && listed->live);
    EXPECT_EQ(listed->live->place, job.place);
    EXPECT_EQ(listed->live->progress.jobs_before, job.progress.jobs_before);
    // What is told to watchers says the same: nothing changes while the device is held.
    const auto told = (*engine->Watch(job.progress.job_id))->Next(std::chrono::steady_clock::now() + kLong, {});
    ASSERT_TRUE(told.has_value());
    EXPECT_EQ(told->jobs_before, job.progress.jobs_before);
    last = std::max(last, job.place);
  }
  EXPECT_EQ(last, porep.pending);
  size_t queued = 0;
  for (const JobStatus& job : status.jobs) queued += job.progress.stage == Stage::kQueued;
  EXPECT_EQ(porep.pending, queued);
  engine.device().Release();
  for (const JobTicket& ticket : tickets) EXPECT_EQ(engine.Await(ticket).state, JobState::kCompleted);
}

TEST(Status, PartitionsOnTheirWayUseTheirParameters) {
  SmallEngine engine;
  engine.device().Hold();
  JobTicket ticket = engine.Submit("a", "5");
  // Two with the workers, two in the queue: the fifth is not admitted yet.
  engine.WaitFor(
      [&](const EngineStatus& status) { return engine.device().waiting() == 2 && status.devices[0].queued == 2; });
  EngineStatus status = engine->Snapshot();
  ASSERT_EQ(status.parameters.size(), 1u);
  EXPECT_EQ(status.parameter_users[status.parameters[0].circuit], 4u);
  EXPECT_TRUE(status.parameters[0].in_use);
  EXPECT_EQ(status.parameters[0].last_used_seconds_ago, 0);
  EXPECT_GT(status.parameters[0].host_bytes + status.parameters[0].device_bytes, 0u);
  EXPECT_EQ(status.devices[0].pool.used_slabs, 2u);  // what a device has copied in is home again
  engine.device().Release();
  EXPECT_EQ(engine.Await(ticket).state, JobState::kCompleted);
  engine.WaitFor([](const EngineStatus& status) { return !status.parameters[0].in_use; });
  status = engine->Snapshot();
  EXPECT_TRUE(status.parameter_users.empty());
  EXPECT_EQ(status.devices[0].pool.used_bytes, 0u);
}

/// A second of a device in which kernels run for half of the time.
prover::Timeline HalfASecondOfKernels() {
  auto event = [](std::string_view stage, int begin, int end) {
    const TimePoint origin{std::chrono::hours(1)};
    return prover::TimelineEvent{stage, origin + std::chrono::milliseconds(begin),
                                 origin + std::chrono::milliseconds(end)};
  };
  return {event(prover::stage::kHostToDevice, 0, 100), event(prover::stage::kLeaseWait, 100, 450),
          event(prover::stage::kTransforms, 450, 750), event(prover::stage::kMsmH, 750, 950),
          event(prover::stage::kMsmL, 800, 900),       event(prover::stage::kDeviceToHost, 950, 1000)};
}

TEST(Status, ADeviceIsBusyWhileKernelsRunAndNotWhileAWorkerHasAPartition) {
  SmallEngine engine;
  engine.device().set_timeline(HalfASecondOfKernels());
  EXPECT_EQ(engine->Snapshot().devices[0].busy_seconds_total, 0);
  const JobResult result = engine.Prove("3");
  EXPECT_EQ(result.state, JobState::kCompleted);
  EXPECT_EQ(result.timings.gpu_compute_ms, 1500u);
  EngineStatus status = engine->Snapshot();
  DeviceStatus& device = status.devices[0];
  EXPECT_DOUBLE_EQ(device.busy_seconds_total, 1.5);
  EXPECT_EQ(device.partitions_total, 3u);
  EXPECT_EQ(status.jobs[0].partitions[0].device_ms, 500u);
  // What is no kernel has names of its own.
  EXPECT_DOUBLE_EQ(device.stage_seconds["h2d"], 0.3);
  EXPECT_DOUBLE_EQ(device.stage_seconds["lease wait"], 1.05);
  EXPECT_DOUBLE_EQ(device.stage_seconds["d2h"], 0.15);
  EXPECT_GT(device.copied_to_device_bytes_total, 0u);
  EXPECT_EQ(device.copied_to_device_bytes_total % 3, 0u);
}

TEST(Status, ADeviceThatHasAPartitionAndDoesNotComputeIsNotBusy) {
  SmallEngine engine;
  engine.device().Hold();
  JobTicket ticket = engine.Submit("a", "2");
  engine.WaitFor([&](const EngineStatus& status) { return status.devices[0].workers[0].busy_seconds > 0.01; });
  EXPECT_EQ(engine->Snapshot().devices[0].busy_seconds_total, 0);
  engine.device().Release();
  EXPECT_EQ(engine.Await(ticket).state, JobState::kCompleted);
  EXPECT_GT(engine->Snapshot().devices[0].busy_seconds_total, 0);
}

TEST(Status, AllBadSectorsOfAJobAreInItsProgress) {
  SmallEngine engine;
  const JobTicket ticket = engine.Submit("a", "1 bad-sectors");
  EXPECT_EQ(engine.Await(ticket).error.rfind("2 sectors are bad: 57, 100; sector 57 (item 3), ", 0), 0u);
  auto watcher = engine->Watch("a");
  ASSERT_TRUE(watcher.ok());
  const auto progress = (*watcher)->Next(std::chrono::steady_clock::now() + std::chrono::minutes(5), {});
  ASSERT_TRUE(progress.has_value());
  EXPECT_EQ(progress->bad_sectors, (std::vector<uint64_t>{57, 100}));
}

/// What the observer hears of a job.
class Heard : public Observer {
 public:
  void OnAccepted(const JobTicket& ticket, filecoin::Kind, uint64_t bytes) override {
    accepted.push_back(StrCat(ticket.job_id, " ", bytes));
  }
  void OnJob(const JobResult& result, double) override { ended.push_back(result.job_id); }
  std::vector<std::string> accepted, ended;
};

TEST(Status, AnAcceptedJobIsToldOnce) {
  Heard heard;
  SmallEngine engine({.observer = &heard});
  engine.device().Hold();
  const JobTicket first = engine.Submit("a", "1 one");
  const JobTicket joined = engine.Submit("a", "1 one");
  EXPECT_TRUE(joined.joined);
  engine.device().Release();
  engine.Await(first);
  EXPECT_EQ(heard.accepted, std::vector<std::string>{"a 5"});
  EXPECT_EQ(heard.ended, std::vector<std::string>{"a"});
}

/// The stages that were told.
class Stages : public Observer {
 public:
  void OnStage(filecoin::Kind, Stage stage, double) override {
    MutexLock lock(mutex_);
    heard_.insert(stage);
  }
  bool Heard(Stage stage) {
    MutexLock lock(mutex_);
    return heard_.contains(stage);
  }

 private:
  Mutex mutex_;
  std::set<Stage> heard_ ABSL_GUARDED_BY(mutex_);
};

TEST(Status, APartitionThatEndsInAnEngineThatIsDestroyedIsNotToldOf) {
  Stages stages;
  SmallEngine engine({.devices = 2, .observer = &stages});
  for (size_t i = 0; i < 2; ++i) engine.device(i).IgnoreStops();
  for (size_t i = 0; i < 2; ++i) engine.device(i).Hold();
  engine.Submit("a", "2");  // one device has workers for both, should the other one not have its parameters yet
  engine.WaitFor([&](const EngineStatus&) { return engine.device(0).waiting() + engine.device(1).waiting() == 2; });
  engine.StopHeld();
  constexpr auto kFinish = testing_support::FaultPoint::kFinish;
  EXPECT_GT(engine.device(0).calls(kFinish) + engine.device(1).calls(kFinish), 0u);
  EXPECT_TRUE(stages.Heard(Stage::kSynthesis));
  EXPECT_FALSE(stages.Heard(Stage::kDevice));
}

TEST(Status, APartitionOfAJobThatGoesOnIsToldOf) {
  Stages stages;
  SmallEngine engine({.observer = &stages});
  EXPECT_EQ(engine.Prove("1").state, JobState::kCompleted);
  EXPECT_TRUE(stages.Heard(Stage::kDevice));
}

TEST(Status, ALoadThatEndsInAnEngineThatIsDestroyedIsNotToldOf) {
  Stages stages;
  testing_support::ShiftedClock clock;
  SmallEngine engine({.clock = &clock, .observer = &stages});
  std::promise<void> begun;
  engine.parameters().late = [&](const std::stop_token& stop) {
    begun.set_value();
    std::promise<void> stopped;
    const std::stop_callback tell(stop, [&] { stopped.set_value(); });
    stopped.get_future().wait();
    clock.Advance(std::chrono::seconds(1));  // long enough to be told
  };
  engine.Submit("a", "1");
  begun.get_future().wait();
  engine.StopHeld();
  EXPECT_FALSE(engine.parameters().Snapshot().empty());
  EXPECT_FALSE(stages.Heard(Stage::kLoadingParameters));
}

TEST(Status, TheParametersAreSeenWithoutTheJobs) {
  SmallEngine engine;
  EXPECT_TRUE(engine->ParameterStates().empty());
  EXPECT_EQ(engine.Prove("1").state, JobState::kCompleted);
  const std::vector<prover::ParameterStatus> states = engine->ParameterStates();
  ASSERT_EQ(states.size(), 1u);
  EXPECT_EQ(states[0].circuit, engine->Snapshot().parameters.at(0).circuit);
}

TEST(Status, ErrorsSayHowLongAgo) {
  SmallEngine engine;
  EXPECT_EQ(engine.Prove("1 unreadable").state, JobState::kFailed);
  EXPECT_EQ(engine.Prove("3 bad1").state, JobState::kFailed);
  EngineStatus status = engine->Snapshot();
  ASSERT_EQ(status.last_errors.size(), 2u);
  EXPECT_THAT(status.last_errors[0].text, HasSubstr("partition 1"));
  EXPECT_GE(status.last_errors[1].seconds_ago, status.last_errors[0].seconds_ago);
  EXPECT_GE(status.last_errors[0].seconds_ago, 0);
}

TEST(Status, TheTimelineIsReadFromAMomentOn) {
  SmallEngine engine;
  EXPECT_EQ(engine.Prove("3").state, JobState::kCompleted);
  auto all = engine->Timeline(TimePoint{}, 1000);
  std::set<std::string> tracks;
  for (const auto& bar : all) tracks.insert(bar->track);
  EXPECT_TRUE(tracks.contains("synthesis 0"));
  EXPECT_TRUE(tracks.contains("finisher"));
  EXPECT_TRUE(tracks.contains("device 0 worker 0") || tracks.contains("device 0 worker 1"));
  EXPECT_EQ(engine->Timeline(TimePoint{}, 2).size(), 2u);
  EXPECT_EQ(engine->Timeline(TimePoint{}, 2).back(), all.back());
  TimePoint later = std::chrono::steady_clock::now();
  EXPECT_TRUE(engine->Timeline(later, 1000).empty());
  EXPECT_EQ(engine.Prove("1").state, JobState::kCompleted);
  auto fresh = engine->Timeline(later, 1000);
  ASSERT_FALSE(fresh.empty());
  for (const auto& bar : fresh) EXPECT_GE(bar->end, later);
  EXPECT_LT(fresh.size(), all.size());
}

}  // namespace
}  // namespace cuzk::engine
