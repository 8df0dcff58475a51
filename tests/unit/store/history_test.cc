// The history of jobs: what is kept, for how long, what it costs, and that it harms no job.

#include "core/store/history.h"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include "tests/unit/store/scratch_store.h"

namespace cuzk::store {
namespace {

using filecoin::Kind;
using std::chrono::hours;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing_support::ScratchStore;
using testing_support::Unfinished;

/// A clock that stands where a test puts it.
class StandingClock final : public Clock {
 public:
  int64_t WallMs() const override { return now_ms; }
  int64_t now_ms = 1'764'547'200'000;
};

constexpr HistoryLimits kRoomy{.age = hours(720), .most = 100'000};

EndedJob Example(int64_t number, Kind kind = Kind::kPorep, RowState state = RowState::kCompleted) {
  EndedJob job{
      .number = number, .id = StrCat("porep-1000-", number), .kind = kind, .registered_proof = 8, .priority = 2};
  job.subject = {.miner = 1000, .sector = static_cast<uint64_t>(number), .partition = 3};
  job.circuit = "porep-32g";
  job.device = "0,1";
  job.partitions = 10;
  job.losses = 1;
  job.finished_ms = 1'764'547'200'000 + number;
  job.submitted_ms = job.finished_ms - 45;
  job.state = state;
  job.stage = state == RowState::kCompleted ? "verifying" : "synthesis";
  if (state != RowState::kCompleted) job.error = "partition 3: a challenged node is not in the tree";
  job.times = {1, 2, 3, 4, 5, 6, 7, 8, 45};
  return job;
}

std::vector<std::string> Ids(const std::vector<EndedJob>& jobs) {
  std::vector<std::string> ids;
  for (const EndedJob& job : jobs) ids.push_back(job.id);
  return ids;
}

class HistoryTest : public testing::Test {
 protected:
  std::unique_ptr<JobStore> Open() const {
    auto store = JobStore::Open({.directory = scratch_.path(), .clock = &clock_});
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  static std::vector<EndedJob> List(const JobStore& store, const HistoryFilter& filter = {}, size_t most = 100,
                                    std::optional<HistoryPlace> after = {}) {
    auto jobs = (*store.history())->List(filter, after, most);
    EXPECT_TRUE(jobs.ok()) << jobs.status();
    return *std::move(jobs);
  }
  /// The lines of SQLite's plan for a query.
  std::string PlanOf(const std::string& query) const {
    sqlite3* database = nullptr;
    sqlite3_stmt* plan = nullptr;
    EXPECT_EQ(sqlite3_open((scratch_.path() / "jobs.sqlite").c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_prepare_v2(database, ("EXPLAIN QUERY PLAN " + query).c_str(), -1, &plan, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    std::string lines;
    while (sqlite3_step(plan) == SQLITE_ROW) {
      lines += StrCat(reinterpret_cast<const char*>(sqlite3_column_text(plan, 3)), "\n");
    }
    sqlite3_finalize(plan);
    sqlite3_close(database);
    return lines;
  }

  ScratchStore scratch_;
  StandingClock clock_;
};

TEST_F(HistoryTest, AnEndedJobIsKeptAcrossARestartWithAllThatIsKnownOfIt) {
  const std::vector<EndedJob> jobs{Example(1), Example(2, Kind::kSnap, RowState::kFailed)};
  const std::vector<NotedError> errors{{.number = 3, .at_ms = 7, .text = "device 0: lost"}};
  EXPECT_TRUE(Open()->Remember(jobs, errors, kRoomy).ok());
  const auto store = Open();
  const std::vector<EndedJob> kept = List(*store);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].id, "porep-1000-2");
  EXPECT_EQ(kept[0].kind, Kind::kSnap);
  EXPECT_EQ(kept[0].state, RowState::kFailed);
  EXPECT_EQ(kept[0].stage, "synthesis");
  EXPECT_EQ(kept[0].error, jobs[1].error);
  EXPECT_EQ(kept[0].subject.miner, 1000u);
  EXPECT_EQ(kept[0].subject.sector, 2u);
  EXPECT_EQ(kept[0].subject.partition, 3u);
  EXPECT_EQ(kept[0].circuit, "porep-32g");
  EXPECT_EQ(kept[0].device, "0,1");
  EXPECT_EQ(kept[0].partitions, 10u);
  EXPECT_EQ(kept[0].losses, 1u);
  EXPECT_EQ(kept[0].registered_proof, 8u);
  EXPECT_EQ(kept[0].submitted_ms, jobs[1].submitted_ms);
  EXPECT_EQ(kept[0].finished_ms, jobs[1].finished_ms);
  const JobTimes& times = kept[0].times;
  EXPECT_THAT(
      (std::vector<uint64_t>{times.queued_ms, times.parsing_ms, times.loading_ms, times.synthesis_ms, times.waiting_ms,
                             times.device_ms, times.finishing_ms, times.verifying_ms, times.total_ms}),
      ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 45));
  EXPECT_EQ(kept[1].id, "porep-1000-1");
  EXPECT_EQ(kept[1].stage, "verifying");
  const HistoryReader& history = **store->history();
  EXPECT_EQ((*history.Find("porep-1000-1"))->number, 1);
  EXPECT_FALSE(history.Find("porep-1000-9")->has_value());
  EXPECT_EQ(*history.LastNumber(), 3);
  EXPECT_EQ(history.Errors()->at(0).text, "device 0: lost");
  EXPECT_EQ(history.Errors()->at(0).at_ms, 7);
  EXPECT_THAT(*history.ReadTotals(), ElementsAre(testing::Pair(std::pair(Kind::kPorep, RowState::kCompleted), 1u),
                                                 testing::Pair(std::pair(Kind::kSnap, RowState::kFailed), 1u)));
}

TEST_F(HistoryTest, FiltersAndPagesGiveEveryJobOnce) {
  const auto store = Open();
  std::vector<EndedJob> jobs;
  for (int64_t i = 1; i <= 30; ++i) {
    jobs.push_back(
        Example(i, i % 3 == 0 ? Kind::kWindow : Kind::kPorep, i % 5 == 0 ? RowState::kFailed : RowState::kCompleted));
    jobs.back().finished_ms = 1'764'547'200'000 + i / 4;  // several in the same millisecond
  }
  EXPECT_TRUE(store->Remember(jobs, {}, kRoomy).ok());
  EXPECT_THAT(Ids(List(*store, {.kind = Kind::kWindow, .state = RowState::kFailed})),
              ElementsAre("porep-1000-30", "porep-1000-15"));
  EXPECT_EQ(List(*store, {.kind = Kind::kWindow}).size(), 10u);
  EXPECT_EQ(List(*store, {.state = RowState::kFailed}).size(), 6u);
  EXPECT_EQ(List(*store, {.since_ms = 1'764'547'200'007}).size(), 3u);
  std::vector<std::string> paged;
  std::optional<HistoryPlace> after;
  while (paged.size() <= 30) {
    const std::vector<EndedJob> page = List(*store, {}, 7, after);
    if (page.empty()) break;
    for (const EndedJob& job : page) {
      EXPECT_TRUE(!after || after->IsBefore(job));
      paged.push_back(job.id);
    }
    after = HistoryPlace{page.back().finished_ms, page.back().number};
  }
  EXPECT_EQ(paged, Ids(List(*store)));
  EXPECT_EQ(paged.size(), 30u);
}

TEST_F(HistoryTest, WhatIsTooOldOrTooMuchGoesAndTheTotalsStay) {
  const auto store = Open();
  std::vector<EndedJob> jobs;
  for (int64_t i = 1; i <= 20; ++i) jobs.push_back(Example(i));
  EXPECT_TRUE(store->Remember(jobs, {}, {.age = hours(1), .most = 15}).ok());
  EXPECT_EQ(List(*store).size(), 15u);
  EXPECT_EQ(List(*store).back().id, "porep-1000-6");
  clock_.now_ms += milliseconds(hours(1)).count() + 11;
  EXPECT_TRUE(store->Remember({}, {}, {.age = hours(1), .most = 15}).ok());
  EXPECT_EQ(List(*store).back().id, "porep-1000-11");
  const std::vector<EndedJob> one{Example(21)};
  EXPECT_TRUE(store->Remember(one, {}, {.age = hours(1), .most = 3}).ok());
  EXPECT_THAT(Ids(List(*store)), ElementsAre("porep-1000-21", "porep-1000-20", "porep-1000-19"));
  EXPECT_TRUE(store->Remember({}, {}, {}).ok());
  EXPECT_THAT(List(*store), IsEmpty());
  EXPECT_EQ((*(*store->history())->ReadTotals()).at({Kind::kPorep, RowState::kCompleted}), 21u);
}

TEST_F(HistoryTest, TheLastErrorsAreKept) {
  const auto store = Open();
  for (int64_t i = 1; i <= 50; ++i) {
    const std::vector<NotedError> errors{{.number = i, .at_ms = i, .text = StrCat("error ", i)}};
    EXPECT_TRUE(store->Remember({}, errors, kRoomy).ok());
  }
  const std::vector<NotedError> kept = *(*store->history())->Errors();
  ASSERT_EQ(kept.size(), kErrorsKept);
  EXPECT_EQ(kept.front().text, "error 50");
  EXPECT_EQ(kept.back().text, "error 31");
}

TEST_F(HistoryTest, AJobThatEndedWhenTheProcessDiedIsTakenInOnce) {
  const auto [file, payload] = scratch_.Complete("a");  // and not remembered
  for (int opened = 0; opened < 3; ++opened) {
    const auto store = Open();
    EXPECT_THAT(Ids(List(*store)), ElementsAre("a"));
    EXPECT_EQ((*(*store->history())->ReadTotals()).at({Kind::kPorep, RowState::kCompleted}), 1u);
  }
  // What was remembered is not taken in again, even if the history has dropped it.
  {
    const auto store = Open();
    StoredJob job = Unfinished("b").job;
    job.row = *Unfinished("b").AcceptBy(*store);
    job.state = RowState::kFailed;
    EXPECT_TRUE(store->Finish(job).ok());
    std::vector<EndedJob> jobs{Example(5)};
    jobs[0].row = job.row;
    EXPECT_TRUE(store->Remember(jobs, {}, {.age = hours(0), .most = 0}).ok());
  }
  EXPECT_THAT(List(*Open()), IsEmpty());
}

TEST_F(HistoryTest, ADamagedHistoryHarmsNoJob) {
  scratch_.Complete("a");
  scratch_.Alter("DROP TABLE history");
  const auto store = Open();
  EXPECT_THAT(std::string(store->history().status().message()), HasSubstr("no such table"));
  EXPECT_FALSE(store->Remember({}, {}, kRoomy).ok());
  EXPECT_EQ(store->Load()->size(), 1u);
  StoredJob job = Unfinished("b").job;
  job.row = *Unfinished("b").AcceptBy(*store);
  job.state = RowState::kFailed;
  EXPECT_TRUE(store->Finish(job).ok());
}

TEST_F(HistoryTest, ARefusedWriteLeavesNothingAndTheNextOneWorks) {
  const auto store = Open();
  const std::vector<EndedJob> twice{Example(1), Example(1)};
  EXPECT_FALSE(store->Remember(twice, {}, kRoomy).ok());
  EXPECT_THAT(List(*store), IsEmpty());
  EXPECT_TRUE((*store->history())->ReadTotals()->empty());
  const std::vector<EndedJob> once{Example(1)};
  EXPECT_TRUE(store->Remember(once, {}, {.age = hours(720), .most = 1}).ok());
  EXPECT_EQ(List(*store).size(), 1u);
}

/// SQLite's way to the files, whose first wait for a lock ends when another connection has released it.
class WaitingFiles {
 public:
  explicit WaitingFiles(const std::filesystem::path& database) : files_(*sqlite3_vfs_find(nullptr)) {
    files_.zName = "waiting";
    files_.xSleep = [](sqlite3_vfs*, int microseconds) {
      ++waits_;
      Release();
      return microseconds;
    };
    waits_ = 0;
    EXPECT_EQ(sqlite3_open(database.c_str(), &other_), SQLITE_OK);
    EXPECT_EQ(sqlite3_vfs_register(&files_, 1), SQLITE_OK);
  }
  ~WaitingFiles() {
    Release();
    sqlite3_close(other_);
    other_ = nullptr;
    sqlite3_vfs_unregister(&files_);
  }
  WaitingFiles(const WaitingFiles&) = delete;
  WaitingFiles& operator=(const WaitingFiles&) = delete;

  /// The other connection takes the lock of those who write.
  static void Lock() { EXPECT_EQ(sqlite3_exec(other_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK); }
  static int waits() { return waits_; }

 private:
  static void Release() {
    if (sqlite3_get_autocommit(other_) == 0) sqlite3_exec(other_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  // SQLite calls a function without an object.
  inline static sqlite3* other_ = nullptr;
  inline static int waits_ = 0;
  sqlite3_vfs files_;
};

TEST_F(HistoryTest, ABatchWaitsForAnotherProgramThatWrites) {
  Open();
  const WaitingFiles files(scratch_.path() / "jobs.sqlite");
  const auto store = Open();
  const std::vector<EndedJob> first{Example(1)}, second{Example(2)};
  // The first batch counts what is kept, the second one knows.
  for (const std::vector<EndedJob>& batch : {first, second}) {
    WaitingFiles::Lock();
    const int before = WaitingFiles::waits();
    const Status status = store->Remember(batch, {}, kRoomy);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_GT(WaitingFiles::waits(), before);
  }
  EXPECT_THAT(Ids(List(*store)), ElementsAre("porep-1000-2", "porep-1000-1"));
}

/// The promise of jobs.history_max. The time of a list follows from the plans: no row is looked at that is not listed.
TEST_F(HistoryTest, AHundredThousandJobsTakeLittleDiskAndMemoryAndAreListedByAnIndex) {
  {
    const auto store = Open();
    std::vector<EndedJob> jobs;
    for (int64_t i = 1; i <= 100'000; ++i) {
      jobs.push_back(
          Example(i, i % 4 == 0 ? Kind::kSnap : Kind::kPorep, i % 10 == 0 ? RowState::kFailed : RowState::kCompleted));
      if (jobs.size() < 1000) continue;
      ASSERT_TRUE(store->Remember(jobs, {}, kRoomy).ok());
      jobs.clear();
    }
  }
  uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scratch_.path())) bytes += entry.file_size();
  EXPECT_LT(bytes, uintmax_t{100} << 20);
  EXPECT_GT(bytes, uintmax_t{10} << 20);  // they are there
  (void)sqlite3_memory_highwater(1);
  const auto store = Open();
  EXPECT_EQ(List(*store).size(), 100u);
  EXPECT_EQ(List(*store, {.state = RowState::kFailed}, 1000).size(), 1000u);
  const std::vector<EndedJob> one{Example(100'001)};
  EXPECT_TRUE(store->Remember(one, {}, kRoomy).ok());
  EXPECT_LT(sqlite3_memory_highwater(0), int64_t{20} << 20);
  for (bool kind : {false, true}) {
    for (bool state : {false, true}) {
      for (bool since : {false, true}) {
        for (bool after : {false, true}) {
          HistoryFilter filter;
          if (kind) filter.kind = Kind::kSnap;
          if (state) filter.state = RowState::kFailed;
          if (since) filter.since_ms = 5;
          const std::string plan = PlanOf(ListQuery(filter, after));
          EXPECT_THAT(plan, HasSubstr("USING INDEX history_")) << plan;
          EXPECT_THAT(plan, Not(HasSubstr("TEMP B-TREE"))) << plan;
          const char* const column = state ? "(state=?" : kind ? "(kind=?" : since ? "(finished>?" : "history_finished";
          EXPECT_THAT(plan, HasSubstr(column)) << plan;
        }
      }
    }
  }
  EXPECT_THAT(PlanOf(FindQuery()), HasSubstr("USING INDEX history_id (id=?)"));
}

}  // namespace
}  // namespace cuzk::store
