#include "core/engine/engine.h"

#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "tests/unit/engine/small_engine.h"

namespace cuzk::engine {
namespace {

using filecoin::Kind;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::StartsWith;
using testing_support::SmallEngine;
using testing_support::SmallRequest;

TEST(Engine, ProvesPartitionsInOrderAndVerifiesThem) {
  SmallEngine engine;
  JobTicket ticket = engine.Submit("porep-1000-1", "3");
  JobResult result = engine.Await(ticket);
  ASSERT_EQ(result.state, JobState::kCompleted) << result.error;
  EXPECT_EQ(result.proof->size(), 3 * 192u);
  EXPECT_EQ(result.job_id, "porep-1000-1");
  EXPECT_EQ(result.kind, Kind::kPorep);
  EngineStatus status = engine->Snapshot();
  EXPECT_EQ(status.kinds[Kind::kPorep].completed_total, 1u);
  EXPECT_EQ(status.counters.partitions_total, 3u);
  EXPECT_EQ(status.counters.retries_total, 0u);
  ASSERT_EQ(status.jobs.size(), 1u);
  EXPECT_EQ(status.jobs[0].progress.partitions_done, 3u);
  EXPECT_EQ(status.jobs[0].progress.fraction, 1);
  EXPECT_EQ(status.devices[0].pool.used_slabs, 0u);
  EXPECT_THAT(engine->TimelineJson(), HasSubstr("\"device 0 worker"));
}

TEST(Engine, EmptyIdBecomesAUuid) {
  SmallEngine engine;
  JobTicket ticket = engine.Submit("", "1");
  EXPECT_EQ(ticket.job_id.size(), 36u);
  EXPECT_EQ(engine.Await(ticket).job_id, ticket.job_id);
}

TEST(Engine, SameIdWithOtherPayloadIsAnotherJobAndWithTheSameIsNot) {
  SmallEngine engine;
  engine.device().Hold();
  JobTicket first = engine.Submit("porep-1000-1", "1 seed one");
  JobTicket same = engine.Submit("porep-1000-1", "1 seed one");
  JobTicket other = engine.Submit("porep-1000-1", "2 seed two");
  EXPECT_TRUE(same.joined);
  EXPECT_EQ(same.key, first.key);
  EXPECT_FALSE(other.joined);
  EXPECT_EQ(other.queue_position, 1u);
  EngineStatus status = engine->Snapshot();
  EXPECT_EQ(status.kinds[Kind::kPorep].pending + status.kinds[Kind::kPorep].in_progress, 2u);
  engine.device().Release();
  EXPECT_EQ(engine.Await(same).proof, engine.Await(first).proof);
  EXPECT_EQ(engine.Await(other).proof->size(), 2 * 192u);
  EXPECT_EQ(engine->Await("porep-1000-1", {})->proof->size(), 2 * 192u);  // the newest
  EXPECT_FALSE(engine.Submit("porep-1000-1", "1 seed one").joined);       // the first has ended
}

TEST(Engine, RefusesWhatTheMessageShows) {
  SmallEngine engine({.engine = {.max_request_bytes = 10}});
  EXPECT_TRUE(absl::IsInvalidArgument(engine->Submit({.vanilla = {.kind = 9}}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      engine->Submit({.request_id = std::string(2000, 'x'), .vanilla = SmallRequest("1")}).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(engine->Submit({.vanilla = SmallRequest("1 and too long")}).status()));
  engine.parameters().available = false;
  EXPECT_TRUE(absl::IsFailedPrecondition(engine->Submit({.vanilla = SmallRequest("1", Kind::kWinning)}).status()));
  // What a PoRep is shows only later.
  JobResult late = engine.Prove("1");
  EXPECT_EQ(late.state, JobState::kFailed);
  EXPECT_THAT(late.error, HasSubstr("no parameters for porep-"));
  EXPECT_EQ(engine->Snapshot().counters.refused_total, 4u);
}

TEST(Engine, RefusesWhenQueueOrMemoryAreFull) {
  SmallEngine engine({.engine = {.max_unfinished_jobs = 2}});
  engine.device().Hold();
  engine.Submit("a", "1");
  engine.Submit("b", "1");
  auto third = engine->Submit({.request_id = "c", .vanilla = SmallRequest("1")});
  EXPECT_TRUE(absl::IsResourceExhausted(third.status()));
  EXPECT_THAT(std::string(third.status().message()), HasSubstr("queue is full"));
  EXPECT_TRUE(engine.Submit("a", "1").joined);  // joining needs no room
  engine.device().Release();

  SmallEngine small({.budget = {.limit_bytes = 8 << 20}});
  auto large = small->Submit({.vanilla = SmallRequest("1" + std::string(9 << 20, ' '))});
  EXPECT_TRUE(absl::IsResourceExhausted(large.status()));
  EXPECT_THAT(std::string(large.status().message()), StartsWith("no memory for the request"));
}

TEST(Engine, LimitsMayChangeWhileItWorks) {
  SmallEngine engine({.engine = {.max_unfinished_jobs = 1}});
  engine.device().Hold();
  engine.Submit("a", "1");
  EXPECT_TRUE(absl::IsResourceExhausted(engine->Submit({.request_id = "b", .vanilla = SmallRequest("1")}).status()));
  engine->SetLimits({.max_unfinished_jobs = 2, .max_results = 1, .result_age = std::chrono::hours(1)});
  engine::JobTicket b = engine.Submit("b", "1");
  EXPECT_TRUE(absl::IsResourceExhausted(engine->Submit({.request_id = "c", .vanilla = SmallRequest("1")}).status()));
  engine.device().Release();
  engine.Await(b);
  engine.WaitFor([](const engine::EngineStatus& status) { return status.results_kept == 1; });
}

TEST(Engine, BadInputFailsTheJobAndSaysWhere) {
  SmallEngine engine;
  JobResult unreadable = engine.Prove("1 unreadable");
  EXPECT_EQ(unreadable.state, JobState::kFailed);
  EXPECT_EQ(unreadable.error, "partition 0: unreadable");
  JobResult bad = engine.Prove("3 bad1");
  EXPECT_EQ(bad.state, JobState::kFailed);
  EXPECT_THAT(bad.error, HasSubstr("challenge 7: does not lead to its root"));
  EXPECT_THAT(bad.error, StartsWith("partition 1"));
  EXPECT_EQ(bad.proof, nullptr);
  EXPECT_EQ(engine.Prove("1").state, JobState::kCompleted);
  EXPECT_EQ(engine->Snapshot().last_errors.size(), 2u);
}

TEST(Engine, AwaitKeepsItsTimeAndTheJobGoesOn) {
  SmallEngine engine;
  engine.device().Hold();
  JobTicket ticket = engine.Submit("a", "1");
  auto early = engine->Await("a", steady_clock::now() + milliseconds(20));
  EXPECT_TRUE(absl::IsDeadlineExceeded(early.status()));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(engine->Await("a", {}, stop.get_token()).status()));
  EXPECT_TRUE(absl::IsNotFound(engine->Await("nobody", {}).status()));
  EXPECT_TRUE(absl::IsNotFound(engine->Await(uint64_t{999}, {}).status()));
  engine.device().Release();
  EXPECT_EQ(engine.Await(ticket).state, JobState::kCompleted);
}

TEST(Engine, CancelOfAJobThatWaitsSaysThatItHadNotEnded) {
  SmallEngine engine({.engine = {.synthesis_threads = 1}});
  engine.Submit("parsing", "1 slow");
  engine.WaitFor([&](const EngineStatus&) { return engine.work().parsing() != nullptr; });
  JobTicket waiting = engine.Submit("waiting", "1");
  EXPECT_EQ(*engine->Cancel("waiting"), true);
  EXPECT_EQ(engine.Await(waiting).state, JobState::kCancelled);
  EXPECT_EQ(*engine->Cancel("waiting"), false);
}

TEST(Engine, CancelEndsAtOnceAndFreesWhatTheJobHeld) {
  SmallEngine engine;
  engine.device().Hold();
  JobTicket running = engine.Submit("running", "9");
  engine.WaitFor([&](const EngineStatus&) { return engine.device().waiting() > 0; });
  EXPECT_EQ(*engine->Cancel("running"), true);
  JobResult result = engine.Await(running);
  EXPECT_EQ(result.state, JobState::kCancelled);
  EXPECT_EQ(*engine->Cancel("running"), false);  // it has ended
  EXPECT_TRUE(absl::IsNotFound(engine->Cancel("nobody").status()));
  // Although the device is still held: its partitions were stopped.
  engine.WaitFor([](const EngineStatus& status) {
    return status.devices[0].pool.used_slabs == 0 && !status.devices[0].workers[0].job_key &&
           !status.devices[0].workers[1].job_key && status.devices[0].queued == 0;
  });
  EXPECT_EQ(engine->Snapshot().kinds[Kind::kPorep].cancelled_total, 1u);
  engine.device().Release();
  EXPECT_EQ(engine.Prove("2").state, JobState::kCompleted);
}

TEST(Engine, AbandonCancelsOnlyWhenNobodyIsLeft) {
  SmallEngine engine;
  engine.device().Hold();
  JobTicket first = engine.Submit("a", "1");
  JobTicket second = engine.Submit("a", "1");
  engine->Abandon(first);
  EXPECT_TRUE(absl::IsDeadlineExceeded(engine->Await("a", steady_clock::now()).status()));
  engine->Abandon(second);
  EXPECT_EQ(engine.Await(first).state, JobState::kCancelled);
}

TEST(Engine, TheObserverKnowsOfAnEndBeforeTheCallerDoes) {
  struct Slow : Observer {
    void OnJob(const JobResult&, double) override {
      std::this_thread::sleep_for(milliseconds(50));
      ++jobs;
    }
    std::atomic<int> jobs = 0;
  } observer;
  SmallEngine engine({.observer = &observer});
  EXPECT_EQ(engine.Prove("1").state, JobState::kCompleted);
  EXPECT_EQ(observer.jobs, 1);
  EXPECT_EQ(engine.Prove("unreadable").state, JobState::kFailed);
  EXPECT_EQ(observer.jobs, 2);
}

TEST(Engine, DeadlinesEndJobs) {
  SmallEngine engine;
  engine.device().Hold();
  auto ticket = engine->Submit(
      {.request_id = "late", .deadline = steady_clock::now() + milliseconds(30), .vanilla = SmallRequest("2")});
  ASSERT_TRUE(ticket.ok());
  JobResult result = engine.Await(*ticket);
  EXPECT_EQ(result.state, JobState::kFailed);
  EXPECT_THAT(result.error, StartsWith("the deadline passed"));

  SmallEngine limited({.engine = {.max_job_time = std::chrono::seconds(1)}});
  limited.device().Hold();
  EXPECT_EQ(limited.Prove("1").state, JobState::kFailed);
  // What the operator allows can change; who was there before keeps its deadline.
  EngineLimits limits = testing_support::kLimits;
  limits.max_job_time = minutes(10);
  limited->SetLimits(limits);
  JobTicket before = limited.Submit("before", "1");
  limits.max_job_time = std::chrono::seconds(1);
  limited->SetLimits(limits);
  EXPECT_EQ(limited.Prove("1").state, JobState::kFailed);
  limited.device().Release();
  EXPECT_EQ(limited.Await(before).state, JobState::kCompleted);
}

TEST(Engine, CriticalPassesBetweenPartitionsOfARunningPorep) {
  SmallEngine engine;
  engine.device().Hold();
  JobTicket porep = engine.Submit("porep", "9");
  // Both workers inside, the queue full of the PoRep's partitions.
  engine.WaitFor(
      [&](const EngineStatus& status) { return engine.device().waiting() == 2 && status.devices[0].queued == 2; });
  JobTicket winning = engine.Submit("winning", "1", Kind::kWinning);
  // A worker of its own takes it at once.
  engine.WaitFor([](const EngineStatus& status) { return status.devices[0].workers[2].job_id == "winning"; });
  EXPECT_TRUE(engine->Snapshot().devices[0].workers[2].critical_only);
  engine.device().Release();
  EXPECT_EQ(engine.Await(winning).state, JobState::kCompleted);
  EXPECT_EQ(engine.Await(porep).state, JobState::kCompleted);
  // In the order in which the devices were done with them: at most the two that were inside, and one beside it, before.
  std::string timeline = engine->TimelineJson();
  size_t winning_waits = timeline.find("\"name\":\"waiting\"", 0);
  ASSERT_NE(winning_waits, timeline.npos);
  std::vector<std::string> order;
  for (size_t at = winning_waits; at != timeline.npos; at = timeline.find("\"name\":\"waiting\"", at + 1)) {
    size_t job = timeline.find("\"job\":\"", at) + 7;
    order.push_back(timeline.substr(job, timeline.find('"', job) - job));
  }
  auto place = std::find(order.begin(), order.end(), "winning") - order.begin();
  EXPECT_LE(place, 2) << timeline;
}

TEST(Engine, WatchTellsTheStoryOfAJob) {
  SmallEngine engine;
  engine.device().Hold();
  JobTicket ticket = engine.Submit("a", "3");
  EXPECT_TRUE(absl::IsNotFound(engine->Watch("nobody").status()));
  auto watcher = *engine->Watch("a");
  auto all = *engine->Watch("");
  engine.device().Release();
  double fraction = 0;
  std::optional<JobProgress> last;
  while (auto progress = watcher->Next(steady_clock::now() + minutes(5), {})) {
    EXPECT_EQ(progress->job_id, "a");
    EXPECT_GE(progress->fraction, fraction);
    fraction = progress->fraction;
    last = progress;
  }
  ASSERT_TRUE(last);
  EXPECT_EQ(last->state, JobState::kCompleted);
  EXPECT_EQ(last->partitions_done, 3u);
  EXPECT_TRUE(watcher->over());
  EXPECT_TRUE(all->Next(steady_clock::now() + minutes(5), {}));
  EXPECT_FALSE(all->over());
  EXPECT_TRUE((*engine->Watch("a"))->Next(steady_clock::now() + minutes(5), {}));  // after the end: the end
}

TEST(Engine, DrainLetsJobsEndAndRefusesOthers) {
  SmallEngine engine;
  JobTicket ticket = engine.Submit("a", "3");
  EXPECT_EQ(engine->Drain(steady_clock::now() + minutes(5)), 0u);
  EXPECT_EQ(engine.Await(ticket).state, JobState::kCompleted);
  EXPECT_TRUE(absl::IsUnavailable(engine->Submit({.vanilla = SmallRequest("1")}).status()));
  EXPECT_TRUE(absl::IsUnavailable(engine->Ready()));
}

TEST(Engine, DrainEndsWhatIsLeftAtItsDeadline) {
  SmallEngine engine;
  engine.device().Hold();
  JobTicket ticket = engine.Submit("a", "3");
  EXPECT_EQ(engine->Drain(steady_clock::now() + milliseconds(10)), 1u);
  EXPECT_EQ(engine.Await(ticket).state, JobState::kFailed);
}

TEST(Engine, PreloadAndEvict) {
  SmallEngine engine;
  EXPECT_TRUE(absl::IsInvalidArgument(engine->Preload("porep-3g").status()));
  EXPECT_FALSE(engine->Preload("porep-2k")->already_loaded);
  EXPECT_TRUE(engine->Preload("porep-2k")->already_loaded);
  EXPECT_EQ(engine->Snapshot().parameters.size(), 1u);
  EXPECT_EQ(engine.Prove("2").state, JobState::kCompleted);
  EXPECT_EQ(engine.device().calls(testing_support::FaultPoint::kLoad), 1u);
  engine.WaitFor([](const EngineStatus& status) { return !status.parameters[0].in_use; });
  auto evicted = engine->Evict("porep-2k");
  ASSERT_TRUE(evicted.ok()) << evicted.status();
  EXPECT_TRUE(evicted->was_loaded);
  EXPECT_GT(evicted->freed_bytes, 0u);
  EXPECT_FALSE(engine->Evict("porep-2k")->was_loaded);
  EXPECT_EQ(engine.Prove("1").state, JobState::kCompleted);  // loaded again
}

TEST(Engine, MissingParametersAreToldBeforeTheCircuitIsRecorded) {
  SmallEngine engine;
  engine.parameters().available = false;
  EXPECT_TRUE(absl::IsFailedPrecondition(engine->Submit({.vanilla = SmallRequest("1", Kind::kSnap)}).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(engine->Preload("porep-2k").status()));
  JobResult porep = engine.Prove("1");  // its message does not show the circuit
  EXPECT_EQ(porep.state, JobState::kFailed);
  EXPECT_THAT(porep.error, HasSubstr("no parameters for porep-2k"));
  EXPECT_EQ(engine.work().shapes(), 0);
  engine.parameters().available = true;
  EXPECT_EQ(engine.Prove("1").state, JobState::kCompleted);
  EXPECT_EQ(engine.work().shapes(), 1);
}

TEST(Engine, ManyClientsWithCancelsAndDuplicates) {
  SmallEngine engine({.devices = 2, .engine = {.max_unfinished_jobs = 1000, .synthesis_threads = 2}});
  constexpr int kClients = 4, kJobs = 12;
  std::atomic<int> completed = 0, cancelled = 0, wrong = 0;
  {
    std::vector<std::jthread> clients;
    for (int c = 0; c < kClients; ++c) {
      clients.emplace_back([&, c] {
        for (int j = 0; j < kJobs; ++j) {
          std::string id = StrCat("job ", j);  // the clients share ids and payloads
          bool alone = j % 4 == 3;
          if (alone) id += StrCat(" of ", c);
          JobTicket ticket =
              engine.Submit(id, StrCat(1 + j % 3, alone ? id : ""), j % 2 ? Kind::kPorep : Kind::kWindow);
          if (alone) (void)engine->Cancel(id);
          JobResult result = engine.Await(ticket);
          if (result.state == JobState::kCompleted) {
            ++completed;
            wrong += result.proof->size() != static_cast<size_t>(1 + j % 3) * 192;
          } else if (alone && result.state == JobState::kCancelled) {
            ++cancelled;
          } else {
            ++wrong;
          }
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(completed + cancelled, kClients * kJobs);
  EngineStatus status = engine->Snapshot();
  uint64_t ended = 0;
  for (const auto& [kind, totals] : status.kinds)
    ended += totals.completed_total + totals.cancelled_total + totals.failed_total;
  EXPECT_EQ(ended, status.counters.submitted_total);
  EXPECT_EQ(status.counters.submitted_total + status.counters.joined_total, static_cast<uint64_t>(kClients * kJobs));
}

}  // namespace
}  // namespace cuzk::engine
