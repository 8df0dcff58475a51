#include "core/prover/parameters/load_turns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/prover/cpu/cpu_device.h"
#include "tests/doubles/faulty_device.h"

namespace cuzk::prover {
namespace {

constexpr LoadUrgency kNormal{.level = 2}, kHigh{.level = 3}, kCritical{.level = 4, .critical = true};
constexpr bool kLarge = false, kSmall = true;

/// A device with so much memory.
class Sized final : public testing_support::FaultyDevice {
 public:
  Sized(Device& inner, uint64_t bytes) : FaultyDevice(inner), bytes_(bytes) {}
  MemoryInfo memory() const override { return {.total = bytes_, .free = bytes_}; }

 private:
  const uint64_t bytes_;
};

class Turns : public testing::Test {
 protected:
  StatusOr<LoadTurns::Turn> Enter(bool small, const LoadUrgency& urgency) {
    return turns_.Enter(device_, small, urgency, stop_.get_token());
  }
  /// Waits for something that other threads do.
  void Await(const std::function<bool()>& condition) {
    while (!condition()) std::this_thread::yield();
  }
  ThreadPool pool_{1};
  std::unique_ptr<Device> cpu_ = MakeCpuDevice({.pool = &pool_});
  Sized device_{*cpu_, uint64_t{24} << 30};
  std::stop_source stop_;
  LoadTurns turns_;
};

TEST_F(Turns, WhatIsSmallDependsOnTheDevice) {
  EXPECT_TRUE(LoadTurns::IsSmall(device_, 192'050'232));  // winning-32g
  EXPECT_FALSE(LoadTurns::IsSmall(device_, 47'373'928'632));
  EXPECT_FALSE(LoadTurns::IsSmall(Sized(*cpu_, 1 << 20), 192'050'232));
}

TEST_F(Turns, ASmallCircuitDoesNotWaitForALargeOne) {
  auto large = Enter(kLarge, kNormal);
  ASSERT_TRUE(large.ok());
  auto small = Enter(kSmall, kCritical);
  ASSERT_TRUE(small.ok());
  EXPECT_FALSE(large->stop().stop_requested());
}

TEST_F(Turns, TheMoreUrgentOneThatWaitsGoesFirst) {
  std::optional<StatusOr<LoadTurns::Turn>> held(Enter(kLarge, kNormal));
  std::mutex mutex;
  std::vector<unsigned> order;
  std::vector<std::jthread> threads;
  for (const LoadUrgency& urgency : {kNormal, kHigh}) {
    threads.emplace_back([&, urgency] {
      auto turn = Enter(kLarge, urgency);
      std::lock_guard lock(mutex);
      order.push_back(urgency.level);
    });
    Await([&] { return turns_.waiting() == threads.size(); });
  }
  EXPECT_FALSE((*held)->stop().stop_requested());  // HIGH waits for what is being loaded
  held.reset();
  threads.clear();
  EXPECT_EQ(order, (std::vector<unsigned>{3, 2}));
}

TEST_F(Turns, ACriticalLoadStopsTheOneInItsWayAndGoesBeforeAllThatWait) {
  std::optional<StatusOr<LoadTurns::Turn>> held(Enter(kLarge, kNormal));
  std::atomic<int> normal_turns = 0;
  std::jthread normal([&] {
    auto turn = Enter(kLarge, kNormal);
    ++normal_turns;
  });
  Await([&] { return turns_.waiting() == 1; });
  std::jthread critical([&] {
    auto turn = Enter(kLarge, kCritical);
    EXPECT_TRUE(turn.ok());
    EXPECT_EQ(normal_turns, 0);
  });
  Await([&] { return (*held)->stop().stop_requested(); });
  held.reset();
  critical.join();
  normal.join();
  EXPECT_EQ(normal_turns, 1);
}

TEST_F(Turns, CriticalLoadsDoNotStopOneAnother) {
  std::optional<StatusOr<LoadTurns::Turn>> held(Enter(kSmall, kCritical));
  std::jthread other([&] { EXPECT_TRUE(Enter(kSmall, kCritical).ok()); });
  Await([&] { return turns_.waiting() == 1; });
  EXPECT_FALSE((*held)->stop().stop_requested());
  held.reset();
}

TEST_F(Turns, ALoadPausesWhileAMoreUrgentOneHasItsTurn) {
  auto large = Enter(kLarge, kNormal);
  turns_.LetPass(kNormal.level, {});  // nothing is more urgent
  std::optional<StatusOr<LoadTurns::Turn>> urgent(Enter(kSmall, kCritical));
  turns_.LetPass(kCritical.level, {});
  std::atomic<bool> passed = false;
  std::jthread reader([&] {
    turns_.LetPass(kNormal.level, {});
    passed = true;
  });
  Await([&] { return turns_.paused() == 1; });
  EXPECT_FALSE(passed);
  urgent.reset();
  reader.join();
  EXPECT_TRUE(passed);
}

TEST_F(Turns, StoppingEndsEveryWait) {
  auto large = Enter(kLarge, kNormal);
  auto urgent = Enter(kSmall, kCritical);
  std::jthread waits([&] { EXPECT_TRUE(absl::IsCancelled(Enter(kLarge, kNormal).status())); });
  std::jthread pauses([&] { turns_.LetPass(kNormal.level, stop_.get_token()); });
  Await([&] { return turns_.waiting() == 1 && turns_.paused() == 1; });
  stop_.request_stop();
}

TEST(OnceAtATime, WhatIsAskedForMeanwhileIsComputedOnce) {
  OnceAtATime once;
  std::atomic<int> computed = 0;
  std::atomic<bool> go = false;
  auto compute = [&] {
    ++computed;
    while (!go) std::this_thread::yield();
    return Status(absl::FailedPreconditionError("the digest is wrong"));
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] { EXPECT_TRUE(absl::IsFailedPrecondition(once.Do("file", {}, compute))); });
  }
  while (once.waiting("file") < 2) std::this_thread::yield();
  EXPECT_TRUE(once.Do("other file", {}, [] { return absl::OkStatus(); }).ok());
  go = true;
  threads.clear();
  EXPECT_EQ(computed, 1);
  EXPECT_TRUE(once.Do("file", {}, [] { return absl::OkStatus(); }).ok());  // later it is computed anew
}

TEST(OnceAtATime, WhenTheFirstIsCancelledTheNextOneComputes) {
  OnceAtATime once;
  std::atomic<bool> inside = false, go = false, computed = false;
  std::jthread first([&] {
    EXPECT_TRUE(absl::IsCancelled(once.Do("file", {}, [&] {
      inside = true;
      while (!go) std::this_thread::yield();
      return Status(absl::CancelledError("stopped"));
    })));
  });
  while (!inside) std::this_thread::yield();
  std::jthread second([&] {
    EXPECT_TRUE(once.Do("file", {},
                        [&] {
                          computed = true;
                          return absl::OkStatus();
                        })
                    .ok());
  });
  while (once.waiting("file") < 1) std::this_thread::yield();
  EXPECT_FALSE(computed);
  go = true;
  second.join();
  EXPECT_TRUE(computed);
}

}  // namespace
}  // namespace cuzk::prover
