#include "daemon/app/watch/liveness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::daemon {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

// A daemon of which the test decides what it has done.
class LivenessTest : public ::testing::Test {
 protected:
  LivenessTest() {
    sample_.devices.push_back({.name = "0", .work = "0"});
    sample_.devices.push_back({.name = "1", .work = "0"});
  }
  // Looks once a second; the scheduler turns unless told otherwise.
  std::string After(int looks, bool scheduler = true, double processor = 0) {
    for (int i = 0; i < looks; ++i) {
      now_ += seconds(1);
      sample_.scheduler_turns += scheduler ? 1 : 0;
      sample_.processor_seconds += processor;
      liveness_.See(sample_, now_);
    }
    return liveness_.Stuck(now_);
  }
  engine::TimePoint now_{seconds(1000)};
  LivenessSample sample_;
  Liveness liveness_{seconds(10)};
};

TEST_F(LivenessTest, NothingToDoIsNoStandstill) { EXPECT_EQ(After(100), ""); }

TEST_F(LivenessTest, ASchedulerThatDoesNotTurnIsOne) {
  EXPECT_EQ(After(5), "");
  EXPECT_EQ(After(10, false), "");
  EXPECT_THAT(After(1, false), HasSubstr("scheduler"));
  EXPECT_EQ(After(1), "");
}

TEST_F(LivenessTest, BusyDevicesMustDoSomething) {
  sample_.devices[0].busy = sample_.devices[1].busy = true;
  for (int i = 0; i < 10; ++i) {
    sample_.devices[0].work += "x";
    sample_.devices[1].work += "x";
    EXPECT_EQ(After(9), "");
  }
  EXPECT_THAT(After(20), HasSubstr("device"));
  sample_.devices[1].work += "x";
  EXPECT_EQ(After(1), "");
}

TEST_F(LivenessTest, WhoWaitsForADiskThatHangsIsNotToBlame) {
  sample_.devices[0].busy = sample_.devices[1].busy = true;
  sample_.store_hangs = true;
  EXPECT_EQ(After(100), "");
  EXPECT_THAT(After(1, false), "");
  EXPECT_THAT(After(10, false), HasSubstr("scheduler"));
  sample_.store_hangs = false;
  EXPECT_EQ(After(10), "");
  EXPECT_THAT(After(1), HasSubstr("device"));
}

// The process is stopped, or the machine suspended: no look happens either.
TEST_F(LivenessTest, ATimeInWhichTheWholeProcessStoodStillCountsForNothing) {
  sample_.devices[0].busy = sample_.devices[1].busy = true;
  EXPECT_EQ(After(8), "");
  now_ += std::chrono::hours(400 * 24);
  EXPECT_EQ(After(1, false), "");
  EXPECT_EQ(After(3), "");
  EXPECT_THAT(After(1), HasSubstr("device"));  // the time before the standstill still counts
}

TEST_F(LivenessTest, OneDeviceThatWorksIsEnough) {
  sample_.devices[0].busy = sample_.devices[1].busy = true;
  for (int i = 0; i < 30; ++i) {
    sample_.devices[1].work += "x";
    EXPECT_EQ(After(1), "");
  }
  sample_.devices[1].lost = true;
  EXPECT_THAT(After(1), HasSubstr("device 0"));
}

TEST_F(LivenessTest, ALostDeviceDoesNotCountAsOneWithoutWork) {
  sample_.devices[0].lost = sample_.devices[1].lost = true;
  EXPECT_EQ(After(1), "all devices are lost");
}

TEST_F(LivenessTest, ProcessorTimeIsWorkOfADeviceOnTheProcessorAlone) {
  sample_.devices[0].busy = sample_.devices[1].busy = true;
  sample_.devices[0].on_processor = true;
  EXPECT_EQ(After(100, true, 0.9), "");
  EXPECT_THAT(After(20, true, 0.05), HasSubstr("makes no progress"));  // answering calls takes some as well
  sample_.devices[0].on_processor = false;
  EXPECT_THAT(After(1, true, 0.9), HasSubstr("makes no progress"));
}

TEST(LivenessSampleTest, WorkIsWhatTheEngineShows) {
  engine::EngineStatus status;
  status.counters.scheduler_turns_total = 7;
  engine::DeviceStatus device{.name = "card", .ordinal = 0};
  device.workers.resize(2);
  status.devices.push_back(device);
  LivenessSample idle = MakeSample(status);
  EXPECT_EQ(idle.scheduler_turns, 7u);
  ASSERT_EQ(idle.devices.size(), 1u);
  EXPECT_FALSE(idle.devices[0].busy);
  EXPECT_FALSE(idle.devices[0].on_processor);

  status.devices[0].workers[1].job_key = 5;
  status.devices[0].workers[1].job_id = "job";
  status.jobs.push_back({.progress = {.job_id = "job", .fraction = 0.25}});
  LivenessSample begun = MakeSample(status);
  EXPECT_TRUE(begun.devices[0].busy);
  status.jobs[0].progress.fraction = 0.26;
  EXPECT_NE(MakeSample(status).devices[0].work, begun.devices[0].work);
  status.jobs[0].progress.fraction = 0.25;
  EXPECT_EQ(MakeSample(status).devices[0].work, begun.devices[0].work);
  status.devices[0].partitions_total = 1;
  EXPECT_NE(MakeSample(status).devices[0].work, begun.devices[0].work);
}

}  // namespace
}  // namespace cuzk::daemon
