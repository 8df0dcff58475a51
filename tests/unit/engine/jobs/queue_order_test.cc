#include "core/engine/jobs/queue_order.h"

#include <gmock/gmock.h>

namespace cuzk::engine {
namespace {

using std::chrono::seconds;

class QueueOrderTest : public testing::Test {
 protected:
  std::shared_ptr<Job> Add(Priority priority = Priority::kNormal) {
    Submission submission;
    submission.job_id = StrCat("job ", ++added_);
    submission.facts.kind = filecoin::Kind::kWindow;
    submission.facts.proof = filecoin::FindRegisteredProof(filecoin::Kind::kWindow, 0);
    submission.digest[0] = added_;
    submission.priority = priority;
    return table_.Add(std::move(submission), {});
  }
  /// A job of two partitions that are pending.
  std::shared_ptr<Job> AddParsed() {
    auto job = Add();
    job->life.Take(Life::kParsing, Actor::kScheduler);
    job->life.Take(Life::kProving, Actor::kSynthesis);
    job->partitions_total = 2;
    job->partitions.resize(2);
    return job;
  }

  JobTable table_{{.max_results = 1000, .age = seconds(3600)}};
  uint8_t added_ = 0;
};

TEST_F(QueueOrderTest, AJobWaitsUntilAPartitionOfItBegins) {
  const auto accepted = Add(), parsed = AddParsed(), began = AddParsed(), loads = AddParsed();
  began->partitions[1].state = PartitionState::kSynthesizing;
  loads->life.Take(Life::kLoading, Actor::kScheduler);
  EXPECT_TRUE(Waits(*accepted));
  EXPECT_TRUE(Waits(*parsed));
  EXPECT_FALSE(Waits(*began));
  EXPECT_FALSE(Waits(*loads));
  began->partitions[1].state = PartitionState::kPending;
  began->partitions[0].proof.emplace();
  EXPECT_FALSE(Waits(*began));
}

// It was over while it waited: its end is being written, or the next start goes on with it.
TEST_F(QueueOrderTest, AJobThatIsOverDoesNotWait) {
  const auto recording = Add(), suspended = Add();
  recording->life.Take(Life::kRecording, Actor::kCaller);
  suspended->life.Take(Life::kSuspended, Actor::kCaller);
  EXPECT_FALSE(Waits(*recording));
  EXPECT_FALSE(Waits(*suspended));
}

TEST_F(QueueOrderTest, PlacesAreCountedAmongTheJobsThatWaitInTheOrderOfService) {
  const auto works = AddParsed(), normal = Add(), high = Add(Priority::kHigh), later = Add(), over = Add();
  works->partitions[0].state = PartitionState::kGpu;
  over->life.Take(Life::kRecording, Actor::kCaller);
  const std::map<uint64_t, uint32_t> places = PlacesOf(table_);
  EXPECT_EQ(places, (std::map<uint64_t, uint32_t>{{high->key, 1}, {normal->key, 2}, {later->key, 3}}));
  EXPECT_EQ(PlaceIn(places, *works), 0u);
  EXPECT_EQ(PlaceIn(places, *later), 3u);
  EXPECT_EQ(JobsBefore(0), 0u);
  EXPECT_EQ(JobsBefore(3), 2u);
}

TEST_F(QueueOrderTest, TheWholeQueueIsBeforeTheLastJob) {
  for (int i = 0; i < 25; ++i) Add();
  const auto last = Add(), urgent = Add(Priority::kCritical);
  const std::map<uint64_t, uint32_t> places = PlacesOf(table_);
  EXPECT_EQ(places.at(urgent->key), 1u);
  EXPECT_EQ(JobsBefore(places.at(last->key)), 26u);
}

}  // namespace
}  // namespace cuzk::engine
