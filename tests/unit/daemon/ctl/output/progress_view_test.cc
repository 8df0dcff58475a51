#include "daemon/ctl/output/progress_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "core/base/text.h"

namespace cuzk::daemon {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ProgressViewTest, TheRestIsGuessedFromWhatWasSeen) {
  Extrapolation extrapolation;
  Extrapolation::TimePoint begin{};
  EXPECT_FALSE(extrapolation.SecondsLeft(0.10, begin).has_value());
  EXPECT_FALSE(extrapolation.SecondsLeft(0.14, begin + seconds(3)).has_value());
  EXPECT_NEAR(*extrapolation.SecondsLeft(0.30, begin + seconds(10)), 35, 1e-6);
  EXPECT_NEAR(*extrapolation.SecondsLeft(1.00, begin + seconds(20)), 0, 1e-6);
}

cuzkd::v1::JobProgress Running() {
  cuzkd::v1::JobProgress progress;
  progress.set_job_id("a");
  progress.set_state("running");
  progress.set_stage("device");
  progress.set_partitions_total(10);
  progress.set_partitions_done(3);
  progress.set_fraction(0.429);
  progress.set_seconds_left(18.4);
  return progress;
}

TEST(ProgressViewTest, ALineHasStagePartitionsPercentAndTimeLeft) {
  EXPECT_EQ(ProgressText(Running()), "device  3/10 partitions  42 %  18 s left");
  cuzkd::v1::JobProgress ended = Running();
  ended.set_state("failed");
  ended.set_seconds_left(-1);
  ended.set_message("partition 0: \x1b[2J");
  EXPECT_THAT(ProgressText(ended), HasSubstr("failed"));
  EXPECT_THAT(ProgressText(ended), HasSubstr("partition 0: \\x1b[2J"));
  EXPECT_THAT(ProgressText(ended), Not(HasSubstr("left")));
}

TEST(ProgressViewTest, AJobThatWaitsSaysItsPlaceInLine) {
  cuzkd::v1::JobProgress queued;
  queued.set_state("queued");
  queued.set_stage("queued");
  queued.set_seconds_left(11 * 60 + 20);
  for (const auto& [before, place] : std::map<uint32_t, std::string>{
           {25, "26th"}, {1, "2nd"}, {2, "3rd"}, {10, "11th"}, {11, "12th"}, {20, "21st"}, {110, "111th"}}) {
    queued.set_jobs_before(before);
    EXPECT_EQ(ProgressText(queued), StrCat("queued  0 %  ", place, " in line  about 11 min left"));
  }
  queued.set_jobs_before(0);
  EXPECT_EQ(ProgressText(queued), "queued  0 %  about 11 min left");
}

TEST(ProgressViewTest, ALineForEachChangeOfStage) {
  StageLines lines;
  const std::chrono::system_clock::time_point now{};
  cuzkd::v1::JobProgress job = Running();
  const std::optional<std::string> first = lines.LineOf(job, now);
  ASSERT_TRUE(first);
  EXPECT_THAT(*first, ::testing::ContainsRegex("^[0-9][0-9]:[0-9][0-9]:[0-9][0-9]  a  device  3/10 partitions"));
  job.set_fraction(0.5);
  EXPECT_FALSE(lines.LineOf(job, now));  // further, at the same stage
  cuzkd::v1::JobProgress other = Running();
  other.set_job_id("b");
  EXPECT_TRUE(lines.LineOf(other, now));
  EXPECT_FALSE(lines.LineOf(job, now));  // news of another job are none of this one
  job.set_state("completed");
  EXPECT_THAT(*lines.LineOf(job, now), HasSubstr("  a  completed"));
  EXPECT_TRUE(lines.LineOf(Running(), now));  // the id comes again
}

TEST(ProgressViewTest, JsonHasEveryField) {
  std::string json = ProgressJson(Running());
  for (const char* key : {"job_id", "kind", "state", "stage", "partitions_total", "partitions_done", "fraction",
                          "seconds_left", "worker", "message", "priority", "age_seconds"}) {
    EXPECT_THAT(json, HasSubstr(StrCat("\"", key, "\":")));
  }
}

}  // namespace
}  // namespace cuzk::daemon
