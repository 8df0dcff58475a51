#include "daemon/grpc/call.h"

#include <gtest/gtest.h>

namespace cuzk::daemon {
namespace {

TEST(DeadlineTest, WhatAClientMaySendNeverOverflows) {
  const engine::TimePoint now = std::chrono::steady_clock::now();
  auto after = [now](int64_t seconds) {
    return DeadlineAfter({.tv_sec = seconds, .tv_nsec = 5, .clock_type = GPR_TIMESPAN}, now);
  };
  EXPECT_EQ(after(10), now + std::chrono::seconds(10) + std::chrono::nanoseconds(5));
  EXPECT_EQ(after(-10), now - std::chrono::seconds(10) + std::chrono::nanoseconds(5));
  for (int64_t hours : {int64_t{2562048}, int64_t{99999999}}) EXPECT_EQ(after(hours * 3600), std::nullopt) << hours;
  EXPECT_EQ(after(INT64_MAX), std::nullopt);
  EXPECT_EQ(after(INT64_MIN), now);
}

}  // namespace
}  // namespace cuzk::daemon
