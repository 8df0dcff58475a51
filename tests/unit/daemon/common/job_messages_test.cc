#include "daemon/common/job_messages.h"

#include <gmock/gmock.h>

#include <cmath>

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;

TEST(JobMessagesTest, AnEmptyRequestAdmitsAllAndWordsAreChecked) {
  cuzkd::v1::ListJobsRequest request;
  engine::JobQuery query = *ToJobQuery(request);
  EXPECT_FALSE(query.kind || query.state || query.since_seconds);
  EXPECT_EQ(query.most, 100u);
  request.set_kind("snap");
  request.set_state("failed");
  request.set_since_seconds(7200);
  request.set_page_size(5);
  request.set_page_token("e1.2");
  query = *ToJobQuery(request);
  EXPECT_EQ(query.kind, filecoin::Kind::kSnap);
  EXPECT_EQ(query.state, engine::JobState::kFailed);
  EXPECT_EQ(query.since_seconds, 7200);
  EXPECT_EQ(query.most, 5u);
  EXPECT_EQ(query.place, "e1.2");
  request.set_page_size(1'000'000);
  EXPECT_EQ(ToJobQuery(request)->most, kMostListedJobs);
  for (double seconds : {-1.0, 1e300, std::nan(""), HUGE_VAL}) {
    request.set_since_seconds(seconds);
    EXPECT_TRUE(absl::IsInvalidArgument(ToJobQuery(request).status())) << seconds;
  }
  request.set_since_seconds(0);
  request.set_kind("seal");
  EXPECT_THAT(std::string(ToJobQuery(request).status().message()), HasSubstr("kind: seal is not porep, window"));
  request.set_kind("");
  request.set_state("done");
  EXPECT_THAT(std::string(ToJobQuery(request).status().message()), HasSubstr("state: done is not queued, running"));
}

TEST(JobMessagesTest, AnEndedJobIsTold) {
  engine::ListedJob job{.state = engine::JobState::kFailed};
  job.facts.id = "a";
  job.facts.kind = filecoin::Kind::kWindow;
  job.facts.subject = {.miner = 1000, .sector = 0, .partition = 3};
  job.facts.stage = "synthesis";
  job.facts.partitions = 2;
  job.facts.device = "0";
  job.facts.error = std::string(9, 'x') + "\u00e4 and more";
  job.facts.finished_ms = 17;
  job.facts.times = {1, 2, 3, 4, 5, 6, 7, 8, 45};
  const cuzkd::v1::Job message = ToJobMessage(job, 10);
  EXPECT_EQ(message.kind(), "window");
  EXPECT_EQ(message.state(), "failed");
  EXPECT_EQ(message.stage(), "synthesis");
  EXPECT_EQ(message.miner_id(), 1000u);
  EXPECT_EQ(message.partition_index(), 3u);
  EXPECT_EQ(message.device(), "0");
  // Never in the middle of a character, which would be no text for protobuf.
  EXPECT_EQ(message.error(), "xxxxxxxxx ...");
  EXPECT_EQ(message.partitions_done(), 0u);
  EXPECT_LT(message.seconds_left(), 0);
  EXPECT_FALSE(message.has_deadline_seconds());
  EXPECT_EQ(message.finished_ms(), 17);
  EXPECT_EQ(message.times().queued_ms(), 1u);
  EXPECT_EQ(message.times().waiting_device_ms(), 5u);
  EXPECT_EQ(message.times().verifying_ms(), 8u);
  EXPECT_EQ(message.times().total_ms(), 45u);
}

TEST(JobMessagesTest, AnUnfinishedJobHasAPlaceAndADeadline) {
  engine::ListedJob job{.state = engine::JobState::kQueued, .live = engine::JobStatus{}};
  job.facts.kind = filecoin::Kind::kWinning;
  job.live->place = 4;
  job.live->deadline_seconds = 9.5;
  job.live->progress.seconds_left = 3;
  const cuzkd::v1::Job message = ToJobMessage(job, 10);
  EXPECT_EQ(message.state(), "queued");
  EXPECT_EQ(message.place(), 4u);
  EXPECT_EQ(message.deadline_seconds(), 9.5);
  EXPECT_EQ(message.seconds_left(), 3);
  EXPECT_EQ(message.finished_ms(), 0);
}

}  // namespace
}  // namespace cuzk::daemon
