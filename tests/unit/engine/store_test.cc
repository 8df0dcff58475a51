// Jobs that survive the process: an engine over a job store, restarted and killed.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "core/base/file.h"
#include "tests/unit/engine/child_process.h"
#include "tests/unit/engine/small_engine.h"
#include "tests/unit/store/scratch_store.h"

namespace cuzk::engine {
namespace {

using filecoin::Kind;
using std::chrono::minutes;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing_support::ScratchDir;
using testing_support::SmallEngine;
using testing_support::SmallEngineOptions;
using testing_support::SmallRequest;
using testing_support::Unfinished;

class StoreTest : public testing::Test {
 protected:
  const std::filesystem::path& path() const { return scratch_.path(); }
  std::unique_ptr<store::JobStore> Open() const { return scratch_.Open(); }
  void Alter(const std::string& sql) const { scratch_.Alter(sql); }
  size_t Payloads() const { return scratch_.Payloads(); }
  /// How often the process that is killed had come up.
  size_t Starts() const {
    size_t count = 0;
    std::ifstream log(directory_ / "log");
    for (std::string line; std::getline(log, line);) count += line == "started";
    return count;
  }
  SmallEngineOptions Durable() const { return {.engine = {.state_directory = path()}}; }

  testing_support::ScratchStore scratch_;
  const ScratchDir& directory_ = scratch_.scratch();
};

TEST_F(StoreTest, DamagedPayloadsAndFormatsAreNoticed) {
  int64_t row;
  {
    auto store = Open();
    row = *Unfinished("a").AcceptBy(*store);
    std::filesystem::path file = path() / StrCat(row, ".payload");
    std::string bytes = *ReadFile(file);
    for (size_t cut : {size_t{0}, size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
      ASSERT_TRUE(WriteFile(file, AsBytes(bytes.substr(0, cut))).ok());
      EXPECT_FALSE(store->ReadPayload(row, Unfinished("a").job.digest).ok()) << cut;
    }
    std::string changed = bytes;
    changed[changed.size() - 1] ^= 1;
    ASSERT_TRUE(WriteFile(file, AsBytes(changed)).ok());
    EXPECT_FALSE(store->ReadPayload(row, Unfinished("a").job.digest).ok());
    EXPECT_FALSE(store->ReadPayload(12345, Unfinished("a").job.digest).ok());
  }
  {
    SmallEngine engine(Durable());
    auto result = engine->Await("a", steady_clock::now() + minutes(5));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->state, JobState::kFailed);
    EXPECT_THAT(result->error, HasSubstr("the stored request is lost"));
    EXPECT_EQ(engine->Snapshot().counters.store_damaged_total, 1);
  }
  std::ofstream(path() / "jobs.sqlite") << std::string(5000, 'x');
  std::filesystem::remove(path() / "jobs.sqlite-wal");
  const Status damaged = scratch_.TryOpen().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(damaged));
  EXPECT_THAT(std::string(damaged.message()), HasSubstr(StrCat("repair ", path().string(), ", or move it away")));
}

TEST_F(StoreTest, AnEndThatCannotBeWrittenIsToldAndCounted) {
  SmallEngine engine(Durable());
  engine.device().Hold();
  JobTicket ticket = engine.Submit("a", "1");
  engine.WaitFor([&](const EngineStatus&) { return engine.device().waiting() > 0; });
  Alter("DROP TABLE jobs");
  engine.device().Release();
  EXPECT_TRUE(engine.Verifies(engine.Await(ticket), 1));
  const EngineStatus status = engine->Snapshot();
  EXPECT_GE(status.counters.store_errors_total, 1u);
  ASSERT_FALSE(status.last_errors.empty());
  EXPECT_THAT(status.last_errors[0].text, HasSubstr(StrCat("job store in ", path().string(), ": ")));
}

TEST_F(StoreTest, WithoutAFolderThereIsNothingToTry) {
  SmallEngine engine;
  EXPECT_TRUE(engine->Ready().ok());
  EXPECT_EQ(engine.Prove("1").state, JobState::kCompleted);
}

TEST_F(StoreTest, AnUnfinishedJobGoesOnAfterARestart) {
  JobTicket ticket;
  {
    SmallEngine engine(Durable());
    engine.device().Hold();
    ticket = engine.Submit("porep-1000-1", "3");
    engine->Drain(steady_clock::now());
    EXPECT_TRUE(absl::IsUnavailable(engine->Await(ticket.key, {}).status()));
  }
  SmallEngine engine(Durable());
  EXPECT_TRUE(engine.Submit("porep-1000-1", "3").joined);
  auto result = engine->Await("porep-1000-1", steady_clock::now() + minutes(5));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->state, JobState::kCompleted) << result->error;
  EXPECT_EQ(result->proof->size(), 3 * 192u);
  EXPECT_EQ(Payloads(), 0u);
}

TEST_F(StoreTest, AResultNotYetFetchedIsThereAfterARestart) {
  std::string unfetched, fetched;
  {
    SmallEngine engine(Durable());
    const JobResult result = engine.Await(engine.Submit("fetched", "1"));
    fetched = *result.proof;
    engine->Delivered(result.key, true);
    engine.Await(engine.Submit("unfetched", "1"));  // by whom nobody knows
    engine.Submit("cancelled", "9");
    EXPECT_TRUE(engine->Cancel("cancelled").ok());
    engine.WaitFor([](const EngineStatus& status) {
      auto porep = status.kinds.at(Kind::kPorep);
      return porep.completed_total == 2;
    });
  }
  SmallEngine engine(Durable());
  EXPECT_EQ(*engine->Await("fetched", {})->proof, fetched);
  EXPECT_EQ(engine->Await("cancelled", {})->state, JobState::kCancelled);
  // Asked again in the same words, the daemon gives the answer that it has.
  JobTicket again = engine.Submit("unfetched", "1");
  EXPECT_TRUE(again.joined);
  EXPECT_EQ(engine.Await(again).state, JobState::kCompleted);
  EXPECT_FALSE(engine.Submit("unfetched", "1").joined);
  EXPECT_FALSE(engine.Submit("fetched", "1").joined);
}

/// What the process that is killed runs; see below. Ids come from the log's length, so that no two are alike.
TEST(StoreChild, DISABLED_Run) {
  const char* directory = std::getenv("CUZK_STORE_CHILD");
  ASSERT_NE(directory, nullptr);
  std::filesystem::path base(directory);
  int log = open((base / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  auto write_line = [&](const std::string& line) { (void)!write(log, line.data(), line.size()); };
  SmallEngine engine({.engine = {.max_results = 1'000'000, .state_directory = base / "state", .max_losses = 0}});
  write_line("started\n");
  for (int i = 0; i < 1000; ++i) {
    std::string id = StrCat("job ", getpid(), " ", i);
    auto ticket = engine->Submit({.request_id = id, .vanilla = SmallRequest(i % 2 ? "1" : "2")});
    if (!ticket.ok()) continue;
    write_line(StrCat("accepted ", id, "\n"));
    if (i % 3 == 0) continue;  // its result is not fetched
    auto result = engine->Await(ticket->key, {});
    if (!result.ok()) continue;
    write_line(StrCat("answer ", id, "|",
                      result->state == JobState::kCompleted ? ToHex(AsBytes(*result->proof)) : result->error, "\n"));
  }
}

TEST_F(StoreTest, KilledAtRandomMomentsNothingIsLostAndNobodyHearsTwoAnswers) {
  const char* wanted = std::getenv("CUZK_STORE_KILLS");
  const int rounds = wanted != nullptr ? std::atoi(wanted) : 12;
  ASSERT_EQ(setenv("CUZK_STORE_CHILD", directory_.path().c_str(), 1), 0);
  std::mt19937 random(20261130);
  size_t starts = 0;
  for (int round = 0; round < rounds; ++round) {
    const pid_t child = testing_support::StartChild("StoreChild.*");
    ASSERT_GT(child, 0);
    // Mostly some time after the start, which must succeed each time; now and then in its middle.
    if (round % 5 != 4) {
      auto limit = steady_clock::now() + minutes(5);
      while (Starts() == starts && steady_clock::now() < limit)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      EXPECT_GT(Starts(), starts) << "no start-up in round " << round;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 600));
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    starts = Starts();
  }
  std::map<std::string, std::set<std::string>> answers;  // by id; empty: accepted only
  std::ifstream log(directory_ / "log");
  for (std::string line; std::getline(log, line);) {
    if (line.starts_with("accepted ")) answers[line.substr(9)];
    if (size_t bar = line.find('|'); line.starts_with("answer ") && bar != line.npos) {
      answers[line.substr(7, bar - 7)].insert(line.substr(bar + 1));
    }
  }
  SmallEngine engine({.engine = {.max_results = 1'000'000, .state_directory = path(), .max_losses = 0}});
  for (auto& [id, heard] : answers) {
    auto result = engine->Await(id, steady_clock::now() + minutes(5));
    ASSERT_TRUE(result.ok()) << id << ": " << result.status();
    EXPECT_EQ(result->state, JobState::kCompleted) << id << ": " << result->error;
    if (result->proof) heard.insert(ToHex(AsBytes(*result->proof)));
    EXPECT_EQ(heard.size(), 1u) << id;
  }
  // One may have been accepted a moment before a kill, with nobody told.
  engine.WaitFor([](const EngineStatus& status) {
    const KindStatus& kind = status.kinds.at(Kind::kPorep);
    return kind.pending + kind.in_progress == 0;
  });
  EXPECT_GT(answers.size(), 0u);
  EXPECT_EQ(Payloads(), 0u);
  RecordProperty("jobs", static_cast<int>(answers.size()));
  std::printf("%zu jobs over %d kills of %zu starts\n", answers.size(), rounds, Starts());
}

}  // namespace
}  // namespace cuzk::engine
