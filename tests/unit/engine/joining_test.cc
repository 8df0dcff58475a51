// Equal requests share one execution: it serves whoever is the most patient and the most urgent of them.

#include <gmock/gmock.h>

#include <algorithm>
#include <thread>

#include "tests/unit/engine/small_engine.h"
#include "tests/unit/groth16/scratch_dir.h"

namespace cuzk::engine {
namespace {

using filecoin::Kind;
using std::chrono::minutes;
using std::chrono::steady_clock;
using testing_support::ScratchDir;
using testing_support::ShiftedClock;
using testing_support::SmallEngine;
using testing_support::SmallEngineOptions;
using testing_support::SmallRequest;

JobTicket Submit(SmallEngine& engine, const std::string& id, std::optional<TimePoint> deadline, uint64_t priority = 0) {
  auto ticket =
      engine->Submit({.request_id = id, .priority = priority, .deadline = deadline, .vanilla = SmallRequest("1")});
  EXPECT_TRUE(ticket.ok()) << ticket.status();
  return ticket.ok() ? *ticket : JobTicket{};
}

Priority PriorityOfJob(SmallEngine& engine, const std::string& id) {
  for (const JobStatus& job : engine->Snapshot().jobs) {
    if (job.progress.job_id == id) return job.priority;
  }
  ADD_FAILURE() << "no job " << id;
  return Priority::kLow;
}

TEST(Joining, TheLaterDeadlineHolds) {
  ShiftedClock clock;
  SmallEngine engine({.clock = &clock});
  engine.device().Hold();
  auto soon = clock.Now() + minutes(10);
  JobTicket none = Submit(engine, "one without", soon);
  EXPECT_TRUE(Submit(engine, "one without", std::nullopt).joined);
  JobTicket later = Submit(engine, "one later", soon);
  EXPECT_TRUE(Submit(engine, "one later", soon + minutes(30)).joined);
  JobTicket earlier = Submit(engine, "one earlier", soon + minutes(30));
  EXPECT_TRUE(Submit(engine, "one earlier", soon).joined);
  JobTicket both = Submit(engine, "both soon", soon);
  EXPECT_TRUE(Submit(engine, "both soon", soon + std::chrono::milliseconds(1)).joined);
  clock.Advance(minutes(20));
  EXPECT_EQ(engine.Await(both).state, JobState::kFailed);  // the deadline has passed
  engine.device().Release();
  for (const JobTicket& ticket : {none, later, earlier}) {
    JobResult result = engine.Await(ticket);
    EXPECT_EQ(result.state, JobState::kCompleted) << result.job_id << ": " << result.error;
  }
}

TEST(Joining, TheOperatorsLimitCountsFromTheFirstSubmission) {
  ShiftedClock clock;
  SmallEngine engine({.engine = {.max_job_time = minutes(20)}, .clock = &clock});
  engine.device().Hold();
  JobTicket ticket = Submit(engine, "a", std::nullopt);
  clock.Advance(minutes(10));
  EXPECT_TRUE(Submit(engine, "a", clock.Now() + minutes(60)).joined);
  clock.Advance(minutes(11));
  EXPECT_EQ(engine.Await(ticket).state, JobState::kFailed);
  EXPECT_THAT(engine.Await(ticket).error, testing::StartsWith("the deadline passed"));
}

TEST(Joining, WhoComesBackGetsTheResultThatNobodyFetched) {
  SmallEngine engine({.engine = {.max_unfinished_jobs = 1}});
  engine.Submit("gone", "1");
  engine.WaitFor([](const EngineStatus& status) { return status.kinds.at(Kind::kPorep).completed_total == 1; });
  engine.device().Hold();
  JobTicket other = engine.Submit("other", "2");
  // The queue is full, but nothing is to be proved.
  JobTicket again = engine.Submit("gone", "1");
  EXPECT_TRUE(again.joined);
  EXPECT_TRUE(engine.Verifies(engine.Await(again), 1));
  EXPECT_TRUE(absl::IsResourceExhausted(engine->Submit({.request_id = "gone", .vanilla = SmallRequest("1")}).status()));
  engine.device().Release();
  EXPECT_EQ(engine.Await(other).state, JobState::kCompleted);
  // Once fetched it is proved anew; another payload always.
  EXPECT_FALSE(engine.Submit("gone", "1").joined);
}

TEST(Joining, AResultThatNobodyGotIsStillThere) {
  SmallEngine engine;
  const JobTicket first = engine.Submit("a", "1");
  const JobResult given = engine.Await(first);
  EXPECT_EQ(given.key, first.key);
  engine->Delivered(given.key, false);
  // Two share it now. One gets it: it was fetched, whatever became of the other's.
  const JobTicket again = engine.Submit("a", "1");
  ASSERT_TRUE(again.joined);
  engine.Await(again);
  engine.Await(again);
  engine->Delivered(again.key, true);
  engine->Delivered(again.key, false);
  EXPECT_FALSE(engine.Submit("a", "1").joined);
  engine->Delivered(12345, true);  // forgotten meanwhile
}

TEST(Joining, TheHigherPriorityHolds) {
  SmallEngine engine;
  engine.device().Hold();
  engine.Submit("porep", "9");
  engine.WaitFor([](const EngineStatus& status) { return status.devices[0].queued == 2; });
  JobTicket ticket = Submit(engine, "a", {}, 1);
  EXPECT_EQ(PriorityOfJob(engine, "a"), Priority::kLow);
  EXPECT_TRUE(Submit(engine, "a", {}, 4).joined);
  EXPECT_EQ(PriorityOfJob(engine, "a"), Priority::kCritical);
  EXPECT_TRUE(Submit(engine, "a", {}, 2).joined);
  EXPECT_EQ(PriorityOfJob(engine, "a"), Priority::kCritical);
  // CRITICAL reaches a worker although the queue is full of the PoRep's partitions.
  engine.WaitFor([](const EngineStatus& status) {
    const auto& workers = status.devices[0].workers;
    return std::any_of(workers.begin(), workers.end(), [](const auto& worker) { return worker.job_id == "a"; });
  });
  engine.device().Release();
  EXPECT_EQ(engine.Await(ticket).state, JobState::kCompleted);
}

TEST(Joining, ARaisedJobPassesThoseThatWaitForTheDevice) {
  SmallEngine engine({.engine = {.device_queue = 4}});
  engine.device().Hold();
  engine.Submit("porep", "3");
  engine.WaitFor([&](const EngineStatus&) { return engine.device().waiting() == 2; });
  JobTicket low = Submit(engine, "low", {}, 1);
  engine.WaitFor([](const EngineStatus& status) { return status.devices[0].queued == 2; });
  EXPECT_TRUE(Submit(engine, "low", {}, 4).joined);  // its witness is in the queue already
  engine.WaitFor([&](const EngineStatus&) { return engine.device().waiting() == 3; });
  engine.device().Release();
  EXPECT_EQ(engine.Await(low).state, JobState::kCompleted);
}

TEST(Joining, ARestartKeepsThePriorityAndDropsTheDeadlineOfALostCaller) {
  ScratchDir scratch;
  ShiftedClock clock;
  SmallEngineOptions options{.engine = {.state_directory = scratch / "state"}, .clock = &clock};
  {
    SmallEngine engine(options);
    engine.device().Hold();
    TimePoint deadline = clock.Now() + minutes(10);
    Submit(engine, "a", deadline, 1);
    Submit(engine, "a", deadline, 4);
    engine->Drain(steady_clock::now());
  }
  clock.Advance(minutes(20));
  options.hold = true;
  SmallEngine engine(options);
  EXPECT_EQ(PriorityOfJob(engine, "a"), Priority::kCritical);
  engine.device().Release();
  auto result = engine->Await("a", steady_clock::now() + minutes(5));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->state, JobState::kCompleted) << result->error;
}

TEST(Joining, ARestartKeepsTheOperatorsLimit) {
  ScratchDir scratch;
  ShiftedClock clock;
  SmallEngineOptions options{.engine = {.state_directory = scratch / "state"}, .clock = &clock};
  {
    SmallEngine engine(options);
    engine.device().Hold();
    Submit(engine, "a", {});
    engine->Drain(steady_clock::now());
  }
  options.engine.max_job_time = minutes(1);
  clock.Advance(minutes(2));
  SmallEngine engine(options);
  auto result = engine->Await("a", steady_clock::now() + minutes(5));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->state, JobState::kFailed);
}

}  // namespace
}  // namespace cuzk::engine
