// WinningPoSts while the disk of the job store is full or hangs: they are proved and answered all the same.

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <future>

#include "core/engine/schedule/policy.h"
#include "tests/doubles/hanging.h"
#include "tests/unit/engine/small_engine.h"
#include "tests/unit/groth16/scratch_dir.h"
#include "tests/unit/store/scratch_store.h"

namespace cuzk::engine {
namespace {

using filecoin::Kind;
using testing::HasSubstr;
using testing_support::ScratchDir;
using testing_support::SmallEngine;
using testing_support::SmallEngineOptions;
using testing_support::SmallRequest;

class UrgentStoreTest : public testing::Test {
 protected:
  SmallEngineOptions Options() {
    return {.engine = {.state_directory = state_}, .clock = &clock_, .store = hanging_.seam()};
  }
  static StatusOr<JobTicket> Submit(SmallEngine& engine, const std::string& id, Kind kind) {
    return engine->Submit({.request_id = id, .vanilla = SmallRequest("1", kind)});
  }
  size_t Rows() const { return (*(*store::JobStore::Open({.directory = state_}))->Load()).size(); }

  ScratchDir scratch_;
  const std::filesystem::path state_ = scratch_ / "state";
  testing_support::Hanging hanging_;
  testing_support::ShiftedClock clock_;
};

TEST_F(UrgentStoreTest, IsStoredWhereTheDiskIsWell) {
  {
    SmallEngine engine(Options());
    auto ticket = Submit(engine, "winning", Kind::kWinning);
    ASSERT_TRUE(ticket.ok()) << ticket.status();
    EXPECT_TRUE(ticket->stored);
    EXPECT_TRUE(engine.Verifies(engine.Await(*ticket), 1));
  }
  EXPECT_EQ(Rows(), 1u);
}

TEST_F(UrgentStoreTest, ADiskThatHangsKeepsNoWinningPost) {
  {
    SmallEngine engine(Options());
    hanging_.Hold("accept");
    auto ticket = Submit(engine, "winning", Kind::kWinning);
    ASSERT_TRUE(ticket.ok()) << ticket.status();
    EXPECT_FALSE(ticket->stored);
    EXPECT_TRUE(engine.Verifies(engine.Await(*ticket), 1));
    const EngineStatus status = engine->Snapshot();
    EXPECT_EQ(status.counters.store_errors_total, 1u);
    EXPECT_THAT(status.last_errors[0].text, HasSubstr("winning: proved without being stored: "));
    hanging_.Release();
    // What the disk has taken after all is deleted again.
    engine.WaitFor([](const EngineStatus& s) { return s.store_wait_seconds == 0; });
    EXPECT_TRUE(Submit(engine, "porep", Kind::kPorep).ok());
    engine.WaitFor([](const EngineStatus& s) { return s.kinds.at(Kind::kPorep).completed_total == 1; });
  }
  EXPECT_EQ(Rows(), 1u);
}

TEST_F(UrgentStoreTest, ADiskThatIsFullKeepsNoWinningPostButEveryOtherJob) {
  SmallEngine engine(Options());
  // Every write beyond this size fails, as on a full disk.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  const Status porep = Submit(engine, "porep", Kind::kPorep).status();
  auto winning = Submit(engine, "winning", Kind::kWinning);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(porep.ok());
  ASSERT_TRUE(winning.ok()) << winning.status();
  EXPECT_FALSE(winning->stored);
  EXPECT_TRUE(engine.Verifies(engine.Await(*winning), 1));
  EXPECT_THAT(engine->Snapshot().last_errors[0].text, HasSubstr("proved without being stored"));
}

TEST_F(UrgentStoreTest, AnEndThatHangsIsToldBeforeItIsRecorded) {
  {
    SmallEngine engine(Options());
    engine.device().Hold();
    JobTicket winning = engine.Submit("winning", "1", Kind::kWinning), porep = engine.Submit("porep", "1");
    EXPECT_TRUE(winning.stored);
    hanging_.Hold("finish");
    engine.device().Release();
    hanging_.AwaitOne();
    engine.WaitFor([](const EngineStatus& status) { return status.counters.partitions_total == 2; });
    clock_.Advance(kUrgentPatience);
    EXPECT_TRUE(engine.Verifies(engine.Await(winning), 1));
    EXPECT_THAT(engine->Snapshot().last_errors[0].text, HasSubstr("the callers get it now"));
    EXPECT_EQ(engine->Snapshot().kinds[Kind::kWinning].completed_total, 1u);
    // Other jobs wait for their record.
    EXPECT_TRUE(absl::IsDeadlineExceeded(engine->Await(porep.key, TimePoint{}).status()));
    hanging_.Release();
    EXPECT_TRUE(engine.Verifies(engine.Await(porep), 1));
  }
  // Told once, recorded as well.
  auto store = *store::JobStore::Open({.directory = state_});
  const auto jobs = store->Load();
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  for (const store::StoredJob& job : *jobs) EXPECT_EQ(job.state, store::RowState::kCompleted) << job.id;
}

}  // namespace
}  // namespace cuzk::engine
