// A store that an earlier program wrote (tests/vectors/store) is taken over with all that lies in it.

#include <gmock/gmock.h>

#include "tests/fixtures.h"
#include "tests/unit/store/scratch_store.h"

namespace cuzk::store {
namespace {

using filecoin::Kind;

class OldFormatTest : public testing::Test {
 protected:
  /// Puts the recorded store of that format in place.
  void Recall(int format) const {
    std::filesystem::create_directory(scratch_.path());
    std::filesystem::permissions(scratch_.path(), std::filesystem::perms::owner_all);
    for (const auto& file :
         std::filesystem::directory_iterator(testing_support::Vectors() / "store" / StrCat("format-", format))) {
      std::filesystem::copy(file.path(), scratch_.path());
    }
  }

  testing_support::ScratchStore scratch_;
};

/// Four jobs: one fetched, one failed, one that was in work when the process was killed and had been lost once before,
/// one whose proof no caller has received.
void ExpectFourJobs(JobStore& store) {
  EXPECT_THAT(store.damaged(), testing::IsEmpty());
  const std::vector<StoredJob> jobs = *store.Load();
  ASSERT_GE(jobs.size(), 4u);
  EXPECT_EQ(jobs[0].id, "porep-1000-1");
  EXPECT_EQ(jobs[0].state, RowState::kCompleted);
  EXPECT_EQ(jobs[0].proof, std::string(192, 'p'));
  EXPECT_TRUE(jobs[0].fetched);
  EXPECT_EQ(jobs[0].submitted_ms, 1764547200000);
  EXPECT_EQ(jobs[0].finished_ms, 1764547260000);
  EXPECT_EQ(jobs[0].times.queue_wait_ms, 1u);
  EXPECT_EQ(jobs[0].times.srs_load_ms, 22u);
  EXPECT_EQ(jobs[0].times.synthesis_ms, 333u);
  EXPECT_EQ(jobs[0].times.gpu_compute_ms, 4444u);
  EXPECT_EQ(jobs[0].times.total_ms, 55555u);
  EXPECT_EQ(jobs[1].id, "window failed");
  EXPECT_EQ(jobs[1].kind, Kind::kWindow);
  EXPECT_EQ(jobs[1].state, RowState::kFailed);
  EXPECT_EQ(jobs[1].error, "partition 0: unreadable");
  EXPECT_EQ(jobs[2].id, "porep-1000-2");
  EXPECT_EQ(jobs[2].state, RowState::kUnfinished);
  EXPECT_EQ(jobs[2].priority, 4);
  EXPECT_EQ(jobs[2].losses, 2u);
  EXPECT_EQ(jobs[3].id, "snap kept");
  EXPECT_EQ(jobs[3].proof, std::string(192, 'k'));
  EXPECT_FALSE(jobs[3].fetched);
  EXPECT_EQ(jobs[3].times.total_ms, 7u);
  auto payload = store.ReadPayload(jobs[2].row, jobs[2].digest);
  ASSERT_TRUE(payload.ok()) << payload.status();
  EXPECT_EQ(payload->vanilla_proof, "2 of porep-1000-2");
}

TEST_F(OldFormatTest, AStoreOfFormatThreeIsTakenOver) {
  Recall(3);
  for (int opened = 0; opened < 2; ++opened) {
    auto store = scratch_.Open();
    ExpectFourJobs(*store);
    EXPECT_EQ(store->Load()->size(), 4u);
    EXPECT_EQ((*store->history())->List({}, {}, 100)->size(), 3u);
  }
}

/// A fifth job was cancelled. Those that ended are in the history and in the totals, once.
TEST_F(OldFormatTest, AStoreOfFormatFourIsTakenOverWithItsJobsAsHistory) {
  Recall(4);
  for (int opened = 0; opened < 2; ++opened) {
    auto store = scratch_.Open();
    ExpectFourJobs(*store);
    ASSERT_EQ(store->Load()->size(), 5u);
    EXPECT_EQ((*store->Load())[4].state, RowState::kCancelled);
    const HistoryReader& history = **store->history();
    const std::vector<EndedJob> ended = *history.List({}, {}, 100);
    ASSERT_EQ(ended.size(), 4u);
    EXPECT_EQ(ended[0].id, "winning gone");
    EXPECT_EQ(ended[0].state, RowState::kCancelled);
    EXPECT_EQ(ended[0].error, "cancelled by request");
    EXPECT_EQ(ended[0].priority, 4);
    EXPECT_EQ(ended[0].times.total_ms, 60'000u);
    EXPECT_EQ(ended[1].id, "window failed");
    EXPECT_EQ(ended[2].id, "snap kept");
    EXPECT_EQ(ended[3].id, "porep-1000-1");
    EXPECT_EQ(ended[3].finished_ms, 1764547260000);
    EXPECT_EQ(ended[3].times.queued_ms, 1u);
    EXPECT_EQ(ended[3].times.device_ms, 4444u);
    EXPECT_EQ(ended[3].times.total_ms, 55555u);
    const Totals totals = *history.ReadTotals();
    EXPECT_EQ(totals.size(), 4u);
    EXPECT_EQ(totals.at({Kind::kWinning, RowState::kCancelled}), 1u);
    EXPECT_EQ(*history.LastNumber(), 4);
  }
}

TEST_F(OldFormatTest, WhatIsDamagedInAnOldStoreIsNoticedAsBefore) {
  Recall(3);
  scratch_.Alter(StrCat("UPDATE jobs SET ", testing_support::kFlippedProof, " WHERE row=4"));
  auto store = scratch_.Open();
  EXPECT_THAT(store->damaged(), testing::ElementsAre(testing::HasSubstr("row 4 of jobs.sqlite")));
  EXPECT_EQ((*store->Load())[0].proof, std::string(192, 'p'));
}

}  // namespace
}  // namespace cuzk::store
