#include "daemon/common/awake_clock.h"

#include <gtest/gtest.h>

namespace cuzk::daemon {
namespace {

TEST(AwakeClockTest, AStandstillCountsForLittle) {
  AwakeClock clock;
  AwakeClock::Time now = std::chrono::steady_clock::now() + std::chrono::hours(1);
  const AwakeClock::Time begin = clock.Now(now);
  EXPECT_EQ(clock.Now(now += std::chrono::seconds(1)) - begin, std::chrono::seconds(1));
  EXPECT_EQ(clock.Now(now += std::chrono::hours(24)) - begin, std::chrono::seconds(1) + AwakeClock::kLongestPause);
  // A time before the last one is none.
  EXPECT_EQ(clock.Now(now - std::chrono::hours(1)) - begin, std::chrono::seconds(1) + AwakeClock::kLongestPause);
}

}  // namespace
}  // namespace cuzk::daemon
