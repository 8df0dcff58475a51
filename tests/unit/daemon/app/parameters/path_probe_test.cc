#include "daemon/app/parameters/path_probe.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>

namespace cuzk::daemon {
namespace {

TEST(PathProbeTest, TwoFailuresInARowAreToldAndOneSuccessEndsThat) {
  std::counting_semaphore<> allowed(0), tried(0);
  std::atomic<bool> fails = true;
  auto attempt = [&]() -> Status {
    allowed.acquire();
    tried.release();
    return fails ? absl::UnavailableError("nothing is answered") : absl::OkStatus();
  };
  auto probe = PathProbe::Start(attempt, std::chrono::milliseconds(1));
  ASSERT_TRUE(probe.ok());
  EXPECT_TRUE((*probe)->Check().ok());
  allowed.release();
  tried.acquire();
  // The third attempt begins after the second was heard of.
  EXPECT_TRUE((*probe)->Check().ok());
  allowed.release(2);
  tried.acquire(), tried.acquire();
  EXPECT_EQ((*probe)->Check().message(), "nothing is answered");
  fails = false;
  allowed.release(3);
  tried.acquire(), tried.acquire(), tried.acquire();
  EXPECT_TRUE((*probe)->Check().ok());
  allowed.release(1000);  // the probe must end
}

}  // namespace
}  // namespace cuzk::daemon
