#include "core/prover/device/device_times.h"

#include <gtest/gtest.h>

namespace cuzk::prover {
namespace {

using std::chrono::milliseconds;

TimelineEvent Event(std::string_view stage, int begin, int end) {
  const TimePoint origin{std::chrono::hours(5)};
  return {stage, origin + milliseconds(begin), origin + milliseconds(end)};
}

TEST(DeviceTimes, KernelsCopiesAndTheWaitAreApart) {
  const DeviceTimes times = TimesOf({Event(stage::kHostToDevice, 0, 100), Event(stage::kLeaseWait, 100, 400),
                                     Event(stage::kTransforms, 400, 500), Event(stage::kMsmH, 600, 900),
                                     Event(stage::kDeviceToHost, 900, 930)});
  EXPECT_EQ(times.kernels, milliseconds(400));
  EXPECT_EQ(times.compute_wait, milliseconds(300));
  EXPECT_EQ(times.copy_to_device, milliseconds(100));
  EXPECT_EQ(times.copy_to_host, milliseconds(30));
}

TEST(DeviceTimes, MomentsWithSeveralKernelsCountOnce) {
  EXPECT_EQ(TimesOf({Event(stage::kMsmBG2, 100, 300), Event(stage::kMsmL, 0, 200), Event(stage::kMsmA, 120, 150),
                     Event(stage::kMsmH, 300, 310), Event(stage::kMsmBG1, 500, 500)})
                .kernels,
            milliseconds(310));
  EXPECT_EQ(TimesOf({}).kernels, Duration{});
}

}  // namespace
}  // namespace cuzk::prover
