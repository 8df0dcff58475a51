// The lists of jobs: what they say of jobs that are unfinished and of those that ended, also before a restart.

#include <gmock/gmock.h>

#include "tests/unit/engine/small_engine.h"
#include "tests/unit/store/scratch_store.h"

namespace cuzk::engine {
namespace {

using filecoin::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::SmallEngine;
using testing_support::SmallEngineOptions;

std::vector<std::string> Ids(const JobList& list) {
  std::vector<std::string> ids;
  for (const ListedJob& job : list.jobs) ids.push_back(job.facts.id);
  return ids;
}

class HistoryTest : public testing::Test {
 protected:
  SmallEngineOptions Durable() const { return {.engine = {.state_directory = scratch_.path()}}; }
  static JobList List(SmallEngine& engine, const JobQuery& query = {}) {
    auto list = engine->ListJobs(query);
    EXPECT_TRUE(list.ok()) << list.status();
    return *std::move(list);
  }
  /// The same as Ids(List(engine)), from pages of one job each.
  static std::vector<std::string> PagedIds(SmallEngine& engine) {
    std::vector<std::string> ids;
    JobQuery query{.most = 1};
    do {
      const JobList page = List(engine, query);
      EXPECT_EQ(page.jobs.size(), 1u);
      if (page.jobs.size() != 1) break;
      ids.push_back(page.jobs[0].facts.id);
      query.place = page.next;
    } while (!query.place.empty() && ids.size() < 9);
    return ids;
  }
  /// One job that is proved, one that fails and one that is cancelled, in this order.
  static void EndThree(SmallEngine& engine) {
    EXPECT_EQ(engine.Await(engine.Submit("proved", "2")).state, JobState::kCompleted);
    EXPECT_EQ(engine.Await(engine.Submit("failed", "3 bad1", Kind::kSnap)).state, JobState::kFailed);
    engine.device().Hold();
    const JobTicket ticket = engine.Submit("cancelled", "1");
    EXPECT_TRUE(*engine->Cancel("cancelled"));
    engine.device().Release();
    engine.Await(ticket);
  }
  static void ExpectThree(SmallEngine& engine) {
    const JobList list = List(engine);
    ASSERT_THAT(Ids(list), ElementsAre("cancelled", "failed", "proved"));
    EXPECT_THAT(list.next, IsEmpty());
    EXPECT_EQ(list.jobs[0].state, JobState::kCancelled);
    EXPECT_EQ(list.jobs[0].facts.error, "cancelled by request");
    const ListedJob& failed = list.jobs[1];
    EXPECT_EQ(failed.state, JobState::kFailed);
    EXPECT_EQ(failed.facts.kind, Kind::kSnap);
    EXPECT_EQ(failed.facts.stage, "synthesis");
    EXPECT_THAT(failed.facts.error, HasSubstr("partition 1"));
    EXPECT_EQ(failed.facts.partitions, 3u);
    EXPECT_FALSE(failed.live);
    const ListedJob& proved = list.jobs[2];
    EXPECT_EQ(proved.facts.stage, "verifying");
    EXPECT_EQ(proved.facts.device, "cpu");
    EXPECT_GT(proved.facts.finished_ms, 0);
    EXPECT_GE(proved.facts.finished_ms, proved.facts.submitted_ms);
    EXPECT_GE(proved.facts.times.total_ms, proved.facts.times.queued_ms);
    EXPECT_EQ(engine->FindJob("failed")->facts.error, failed.facts.error);
    EXPECT_TRUE(absl::IsNotFound(engine->FindJob("nobody").status()));
    EXPECT_THAT(Ids(List(engine, {.kind = Kind::kSnap})), ElementsAre("failed"));
    EXPECT_THAT(Ids(List(engine, {.state = JobState::kCancelled})), ElementsAre("cancelled"));
    EXPECT_THAT(Ids(List(engine, {.since_seconds = 86400})), ElementsAre("cancelled", "failed", "proved"));
  }
  static void ExpectTotals(SmallEngine& engine) {
    EngineStatus status = engine->Snapshot();
    EXPECT_EQ(status.kinds[Kind::kPorep].completed_total, 1u);
    EXPECT_EQ(status.kinds[Kind::kPorep].cancelled_total, 1u);
    EXPECT_EQ(status.kinds[Kind::kSnap].failed_total, 1u);
    ASSERT_FALSE(status.last_errors.empty());
    EXPECT_THAT(status.last_errors[0].text, HasSubstr("failed: partition 1"));
    EXPECT_EQ(status.counters.history_lost_total, 0u);
  }

  testing_support::ScratchStore scratch_;
};

TEST_F(HistoryTest, EndedJobsTotalsAndErrorsSurviveARestart) {
  {
    SmallEngine engine(Durable());
    EndThree(engine);
    ExpectThree(engine);
    ExpectTotals(engine);
  }
  for (int start = 0; start < 2; ++start) {
    SmallEngine engine(Durable());
    ExpectThree(engine);
    ExpectTotals(engine);
  }
}

TEST_F(HistoryTest, WithoutAFolderTheLatestAreKeptInMemory) {
  SmallEngine engine;
  EndThree(engine);
  ExpectThree(engine);
}

TEST_F(HistoryTest, ThePagesGiveEveryJobOnceUnfinishedOnesInTheOrderOfService) {
  SmallEngine engine(Durable());
  EndThree(engine);
  engine.device().Hold();
  std::vector<JobTicket> tickets{engine.Submit("runs", "9")};
  engine.WaitFor([&](const EngineStatus&) { return engine.device().waiting() > 0; });
  // They wait for memory of the pool or for their turn behind the nine partitions.
  tickets.push_back(engine.Submit("normal", "1", Kind::kPorep, 2));
  tickets.push_back(engine.Submit("low", "1", Kind::kPorep, 1));
  tickets.push_back(engine.Submit("high", "1", Kind::kPorep, 3));
  const JobList whole = List(engine);
  std::vector<std::string> ids = Ids(whole);
  ASSERT_EQ(ids.size(), 7u);
  EXPECT_THAT(std::vector(ids.begin() + 4, ids.end()), ElementsAre("cancelled", "failed", "proved"));
  // Which of them wait is the stations' affair; those that do are listed as they will be served.
  uint32_t waiting = 0;
  uint8_t priority = UINT8_MAX;
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(whole.jobs[i].live);
    EXPECT_EQ(whole.jobs[i].facts.finished_ms, 0);
    const uint32_t place = whole.jobs[i].live->place;
    if (place > 0) {
      EXPECT_EQ(place, ++waiting) << ids[i];
      EXPECT_LE(whole.jobs[i].facts.priority, priority) << ids[i];
      priority = whole.jobs[i].facts.priority;
    }
  }
  EXPECT_THAT(PagedIds(engine), testing::UnorderedElementsAreArray(ids));
  EXPECT_TRUE(engine->FindJob("low")->live);
  EXPECT_THAT(Ids(List(engine, {.state = JobState::kFailed})), ElementsAre("failed"));
  for (const char* place : {"x", "u1", "e1", "e1.x", "u1.2", "e", "7"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(engine->ListJobs({.place = place}).status())) << place;
  }
  engine.device().Release();
  for (const JobTicket& ticket : tickets) engine.Await(ticket);
}

/// A machine's clock that is set.
class SetClock final : public Clock {
 public:
  int64_t WallMs() const override { return wall_ms; }
  std::atomic<int64_t> wall_ms = 1'764'547'200'000;
};

TEST_F(HistoryTest, ThePagesGiveEveryJobOnceWhenTheClockWasSetBack) {
  SetClock clock;
  for (const bool stored : {false, true}) {
    SmallEngineOptions options = stored ? Durable() : SmallEngineOptions{};
    options.clock = &clock;
    SmallEngine engine(options);
    for (const auto& [id, minutes] : std::vector<std::pair<const char*, int>>{{"a", 3}, {"b", 1}, {"c", 4}, {"d", 2}}) {
      clock.wall_ms = 1'764'547'200'000 + minutes * 60'000;
      EXPECT_EQ(engine.Await(engine.Submit(id, "1")).state, JobState::kCompleted);
    }
    EXPECT_THAT(Ids(List(engine)), ElementsAre("c", "a", "d", "b"));
    EXPECT_THAT(PagedIds(engine), ElementsAre("c", "a", "d", "b")) << stored;
    EXPECT_THAT(Ids(List(engine, {.most = 2})), ElementsAre("c", "a"));
  }
}

TEST_F(HistoryTest, AHistoryThatCannotBeWrittenLosesNoProofAndIsToldOnce) {
  SmallEngine engine(Durable());
  engine.Await(engine.Submit("kept", "1"));
  engine.WaitFor([&](const EngineStatus&) { return scratch_.Rows("history") == 1; });
  scratch_.Alter("CREATE TRIGGER full BEFORE INSERT ON history BEGIN SELECT RAISE(ABORT,'no room'); END");
  for (const char* id : {"a", "b", "c"}) EXPECT_TRUE(engine.Verifies(engine.Await(engine.Submit(id, "1")), 1));
  engine.WaitFor([](const EngineStatus& status) { return status.counters.history_lost_total == 3; });
  EXPECT_THAT(Ids(List(engine)), ElementsAre("kept"));
  EngineStatus status = engine->Snapshot();
  EXPECT_EQ(status.counters.store_errors_total, 0u);
  ASSERT_EQ(status.last_errors.size(), 1u);
  EXPECT_THAT(status.last_errors[0].text, HasSubstr("missing from the history"));
  EXPECT_THAT(status.last_errors[0].text, HasSubstr("no room"));
  scratch_.Alter("DROP TRIGGER full");
  engine.Await(engine.Submit("again", "1"));
  engine.WaitFor([&](const EngineStatus&) { return Ids(List(engine)) == std::vector<std::string>{"again", "kept"}; });
}

TEST_F(HistoryTest, AStoreWhoseHistoryIsDamagedIsUsedWithoutIt) {
  {
    SmallEngine engine(Durable());
    engine.Await(engine.Submit("before", "1"));
  }
  scratch_.Alter("DROP TABLE history");
  SmallEngine engine(Durable());
  EXPECT_THAT(engine->Snapshot().last_errors.at(0).text, HasSubstr("the history of jobs cannot be used"));
  EXPECT_TRUE(engine.Verifies(engine.Await(engine.Submit("after", "1")), 1));
  EXPECT_THAT(Ids(List(engine)), ElementsAre("after"));
}

}  // namespace
}  // namespace cuzk::engine
