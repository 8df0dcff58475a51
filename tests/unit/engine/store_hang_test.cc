// A job store that does not answer, or that somebody has taken away: nobody else waits for it, and all are told.

#include <gmock/gmock.h>

#include <future>

#include "tests/doubles/hanging.h"
#include "tests/unit/engine/small_engine.h"
#include "tests/unit/groth16/scratch_dir.h"

namespace cuzk::engine {
namespace {

using filecoin::Kind;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing_support::ScratchDir;
using testing_support::SmallEngine;
using testing_support::SmallEngineOptions;
using testing_support::SmallRequest;

class StoreHangTest : public testing::Test {
 protected:
  SmallEngineOptions Options() {
    return {.engine = {.state_directory = state_}, .store = hanging_.seam(), .store_patience = milliseconds(20)};
  }
  static void AwaitNotReady(SmallEngine& engine) {
    engine.WaitFor([](const EngineStatus& status) { return !status.not_ready.empty(); });
  }

  ScratchDir scratch_;
  const std::filesystem::path state_ = scratch_ / "state";
  testing_support::Hanging hanging_;
};

TEST_F(StoreHangTest, AnAcceptThatHangsIsToldAndKeepsNobodyElseWaiting) {
  SmallEngine engine(Options());
  EXPECT_EQ(engine->Snapshot().store_wait_seconds, 0);
  hanging_.Hold("accept");
  auto first = std::async(std::launch::async, [&] { return engine->Submit({.vanilla = SmallRequest("1")}); });
  hanging_.AwaitOne();
  AwaitNotReady(engine);
  const EngineStatus status = engine->Snapshot();
  EXPECT_GT(status.store_wait_seconds, 0);
  EXPECT_THAT(status.not_ready, HasSubstr(StrCat("the job store in ", state_.string(), " has not answered for ")));
  EXPECT_TRUE(absl::IsUnavailable(engine->Ready()));
  const Status refused = engine->Submit({.vanilla = SmallRequest("2")}).status();
  EXPECT_TRUE(absl::IsUnavailable(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("has not answered for "));
  hanging_.Release();
  ASSERT_TRUE(first.get().ok());
  engine.WaitFor(
      [](const EngineStatus& s) { return s.not_ready.empty() && s.kinds.at(Kind::kPorep).completed_total == 1; });
}

TEST_F(StoreHangTest, AnEndThatHangsIsToldAndComesLater) {
  SmallEngine engine(Options());
  hanging_.Hold("finish");
  JobTicket ticket = engine.Submit("a", "1");
  hanging_.AwaitOne();
  AwaitNotReady(engine);
  EXPECT_TRUE(engine->Snapshot().kinds.at(Kind::kPorep).completed_total == 0);
  const Status other = engine->Cancel("a").status();
  EXPECT_TRUE(absl::IsUnavailable(other)) << other;
  EXPECT_THAT(std::string(other.message()), HasSubstr("a has stopped"));
  hanging_.Release();
  EXPECT_TRUE(engine.Verifies(engine.Await(ticket), 1));
  engine.WaitFor([](const EngineStatus& status) { return status.not_ready.empty(); });
}

TEST_F(StoreHangTest, AnEqualRequestJoinsAJobWhoseProofIsBeingRecorded) {
  SmallEngine engine(Options());
  hanging_.Hold("finish");
  const JobTicket ticket = engine.Submit("a", "1");
  hanging_.AwaitOne();
  const JobTicket again = engine.Submit("a", "1");
  EXPECT_TRUE(again.joined);
  EXPECT_EQ(again.key, ticket.key);
  engine->Abandon(again);  // nothing is cancelled: the proof is made
  hanging_.Release();
  EXPECT_TRUE(engine.Verifies(engine.Await(ticket), 1));
  EXPECT_TRUE(engine.Verifies(engine.Await(again), 1));
  EXPECT_EQ(engine->Snapshot().counters.partitions_total, 1u);
}

TEST_F(StoreHangTest, ProvingGoesOnWhileTheDiskHangs) {
  SmallEngine engine(Options());
  engine.device().Hold();
  JobTicket ticket = engine.Submit("a", "9");
  // Both workers have made their marks: nothing else is asked of the store.
  engine.WaitFor([&](const EngineStatus&) { return engine.device().waiting() == 2; });
  hanging_.Hold("accept");
  auto hangs = std::async(std::launch::async, [&] { return engine->Submit({.vanilla = SmallRequest("1")}); });
  hanging_.AwaitOne();
  AwaitNotReady(engine);
  hanging_.Hold("mark and accept");
  engine.device().Release();
  engine.WaitFor([](const EngineStatus& status) { return status.counters.partitions_total == 9; });
  hanging_.Release();
  EXPECT_TRUE(hangs.get().ok());
  EXPECT_TRUE(engine.Verifies(engine.Await(ticket), 9));
}

TEST_F(StoreHangTest, AMarkThatHangsIsToldAsWell) {
  SmallEngine engine(Options());
  hanging_.Hold("mark");  // of a worker, which no statement waits for
  JobTicket ticket = engine.Submit("a", "1");
  hanging_.AwaitOne();
  AwaitNotReady(engine);
  hanging_.Release();
  EXPECT_TRUE(engine.Verifies(engine.Await(ticket), 1));
}

TEST_F(StoreHangTest, AStoreThatIsTakenAwayRefusesWithWordsAndLosesNoProof) {
  SmallEngine engine({.engine = {.state_directory = state_}});
  engine.device().Hold();
  JobTicket ticket = engine.Submit("a", "1");
  engine.WaitFor([&](const EngineStatus&) { return engine.device().waiting() > 0; });
  for (bool replaced : {false, true}) {
    std::filesystem::remove_all(state_);
    if (replaced) std::filesystem::create_directory(state_);
    const Status refused = engine->Submit({.vanilla = SmallRequest("2")}).status();
    EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("was removed or replaced while the daemon ran"));
    EXPECT_TRUE(absl::IsUnavailable(engine->Ready()));
    EXPECT_THAT(engine->Snapshot().not_ready, HasSubstr("restart the daemon"));
  }
  engine.device().Release();
  EXPECT_TRUE(engine.Verifies(engine.Await(ticket), 1));
  const EngineStatus status = engine->Snapshot();
  EXPECT_GE(status.counters.store_errors_total, 1u);
  ASSERT_FALSE(status.last_errors.empty());
  EXPECT_THAT(status.last_errors[0].text, HasSubstr("was removed or replaced"));
}

TEST_F(StoreHangTest, AFolderThatIsReplacedEndsTheEngineAfterItsJobs) {
  SmallEngine engine({.engine = {.state_directory = state_}});
  engine.device().Hold();
  JobTicket ticket = engine.Submit("a", "1");
  engine.WaitFor([&](const EngineStatus&) { return engine.device().waiting() > 0; });
  std::filesystem::remove_all(state_);
  std::filesystem::create_directory(state_);
  const Status lost = engine->AwaitLoss({});
  EXPECT_TRUE(absl::IsAborted(lost)) << lost;
  engine.device().Release();
  EXPECT_EQ(engine->Drain(std::chrono::steady_clock::now() + std::chrono::minutes(5)), 0u);
  EXPECT_TRUE(engine.Verifies(engine.Await(ticket), 1));
}

TEST_F(StoreHangTest, AStoreThatComesBackIsUsedAgain) {
  SmallEngine engine({.engine = {.state_directory = state_}});
  std::filesystem::rename(state_, scratch_ / "elsewhere");
  EXPECT_FALSE(engine->Submit({.vanilla = SmallRequest("2")}).ok());
  EXPECT_FALSE(engine->Ready().ok());
  std::filesystem::rename(scratch_ / "elsewhere", state_);
  EXPECT_TRUE(engine.Verifies(engine.Prove("1"), 1));
  EXPECT_TRUE(engine->Ready().ok());
}

}  // namespace
}  // namespace cuzk::engine
