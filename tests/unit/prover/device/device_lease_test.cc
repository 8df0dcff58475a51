#include "core/prover/device/device_lease.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
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

/// Starts a thread that enters with `urgency`, notes `name`, and leaves; returns once it waits behind the others.
class Queue {
 public:
  explicit Queue(ComputeRegion& region) : region_(region), held_(region.Enter({}).value()) {}
  void Add(int name, unsigned urgency) {
    const size_t before = region_.waiting();
    threads_.emplace_back([this, name, urgency] {
      auto lease = region_.Enter({}, urgency);
      ASSERT_TRUE(lease.ok());
      std::lock_guard lock(mutex_);
      order_.push_back(name);
    });
    while (region_.waiting() == before) std::this_thread::yield();  // the order of asking is what is tested
  }
  std::vector<int> Open() {
    held_.reset();
    threads_.clear();
    return order_;
  }

 private:
  ComputeRegion& region_;
  std::optional<DeviceLease> held_;
  std::mutex mutex_;
  std::vector<int> order_;
  std::vector<std::jthread> threads_;
};

TEST(ComputeRegion, TheMostUrgentGoesFirstAndEqualOnesInOrder) {
  ComputeRegion region;
  Queue queue(region);
  queue.Add(1, 2);
  queue.Add(2, 2);
  queue.Add(3, 4);
  queue.Add(4, 1);
  queue.Add(5, 4);
  EXPECT_EQ(queue.Open(), (std::vector<int>{3, 5, 1, 2, 4}));
}

TEST(ComputeRegion, NobodyIsPassedForEver) {
  ComputeRegion region;
  Queue queue(region);
  queue.Add(-1, 0);
  for (int i = 0; i < static_cast<int>(ComputeRegion::kMostPasses) + 4; ++i) queue.Add(i, 1);
  std::vector<int> order = queue.Open();
  EXPECT_EQ(std::find(order.begin(), order.end(), -1) - order.begin(), ComputeRegion::kMostPasses);
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
