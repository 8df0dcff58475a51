#include "core/engine/stages/device_meter.h"

#include <gtest/gtest.h>

namespace cuzk::engine {
namespace {

using std::chrono::seconds;

const TimePoint kStart{std::chrono::hours(1)};

prover::TimelineEvent Event(std::string_view stage, int begin, int end) {
  return {stage, kStart + seconds(begin), kStart + seconds(end)};
}

double ShareAt(const DeviceMeter& meter, int when) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  DeviceStatus status;
  meter.Describe(kStart + seconds(when), status);
  return status.busy_share;
}

TEST(DeviceMeter, HalfOfTheTimeIsHalf) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  DeviceMeter meter(kStart);
  EXPECT_EQ(ShareAt(meter, 0), 0);
  // A worker has a partition for the whole minute; kernels run for half of it, two of them at once for a while.
  meter.Ended({Event(prover::stage::kHostToDevice, 0, 10), Event(prover::stage::kLeaseWait, 10, 25),
               Event(prover::stage::kTransforms, 25, 40), Event(prover::stage::kMsmH, 40, 55),
               Event(prover::stage::kMsmL, 42, 50), Event(prover::stage::kDeviceToHost, 55, 60)},
              1000);
  EXPECT_DOUBLE_EQ(ShareAt(meter, 60), 0.5);
  // Of the last minute: what was before it no longer counts.
  EXPECT_DOUBLE_EQ(ShareAt(meter, 100), 15.0 / 60);
  EXPECT_DOUBLE_EQ(ShareAt(meter, 200), 0);
}

TEST(DeviceMeter, ADeviceThatHasJustStartedIsJudgedByItsOwnTime) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  DeviceMeter meter(kStart);
  meter.Ended({Event(prover::stage::kTransforms, 1, 4)}, 1);
  EXPECT_DOUBLE_EQ(ShareAt(meter, 6), 0.5);
}

TEST(DeviceMeter, ThePaceFollowsTheLatestPartitions) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  DeviceMeter meter(kStart);
  EXPECT_FALSE(meter.Pace("porep-32g").has_value());
  meter.Proved("porep-32g", seconds(10));
  EXPECT_EQ(*meter.Pace("porep-32g"), seconds(10));
  for (int i = 0; i < 30; ++i) meter.Proved("porep-32g", seconds(20));
  EXPECT_NEAR(Seconds(*meter.Pace("porep-32g")), 20, 0.1);
  EXPECT_FALSE(meter.Pace("snap-32g").has_value());
}

}  // namespace
}  // namespace cuzk::engine
