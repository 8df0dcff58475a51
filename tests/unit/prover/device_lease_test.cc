#include "core/prover/device_lease.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace cuzk::prover {
namespace {

TEST(ComputeRegion, OneAtATime) {
  ComputeRegion region;
  std::atomic<int> inside{0}, entries{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        auto lease = region.Enter({});
        ASSERT_TRUE(lease.ok());
        EXPECT_EQ(inside.fetch_add(1), 0);
        ++entries;
        inside.fetch_sub(1);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(entries, 800);
}

TEST(ComputeRegion, WhoGivesUpDoesNotBlockThoseBehind) {
  ComputeRegion region;
  std::optional<DeviceLease> first = region.Enter({}).value();
  std::stop_source stop;
  std::atomic<bool> cancelled{false}, entered{false};
  std::jthread second([&] { cancelled = absl::IsCancelled(region.Enter(stop.get_token()).status()); });
  std::jthread third([&] { entered = region.Enter({}).ok(); });
  stop.request_stop();
  second.join();
  EXPECT_TRUE(cancelled);
  EXPECT_FALSE(entered);
  first.reset();
  third.join();
  EXPECT_TRUE(entered);
  EXPECT_TRUE(region.Enter({}).ok());
}

TEST(ComputeRegion, MovedLeaseLeavesOnce) {
  ComputeRegion region;
  {
    DeviceLease lease = region.Enter({}).value();
    DeviceLease moved = std::move(lease);
  }
  EXPECT_TRUE(region.Enter({}).ok());
}

}  // namespace
}  // namespace cuzk::prover
