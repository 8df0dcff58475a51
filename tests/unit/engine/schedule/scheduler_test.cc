#include "core/engine/schedule/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace cuzk::engine {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

std::optional<uint64_t> Next(const Scheduler& scheduler) {
  return scheduler.Next([](uint64_t) { return true; });
}

/// Serves until nobody is ready; returns the order.
std::vector<uint64_t> ServeAll(Scheduler& scheduler) {
  std::vector<uint64_t> order;
  while (auto key = Next(scheduler)) {
    order.push_back(*key);
    scheduler.Served(*key);
  }
  return order;
}

TEST(Scheduler, PriorityFirstThenSubmission) {
  Scheduler scheduler(100);
  scheduler.Add(1, Priority::kLow, {});
  scheduler.Add(2, Priority::kNormal, {});
  scheduler.Add(3, Priority::kCritical, {});
  scheduler.Add(4, Priority::kNormal, {});
  scheduler.Add(5, Priority::kHigh, {});
  EXPECT_EQ(Next(scheduler), std::nullopt);  // nothing is ready
  for (uint64_t key = 1; key <= 5; ++key) scheduler.SetReady(key, key == 2 ? 2 : 1);
  EXPECT_THAT(ServeAll(scheduler), ElementsAre(3, 5, 2, 2, 4, 1));
}

TEST(Scheduler, CriticalPassesBetweenPartitions) {
  Scheduler scheduler(16);
  scheduler.Add(1, Priority::kNormal, {});
  scheduler.SetReady(1, 10);
  for (int i = 0; i < 4; ++i) scheduler.Served(*Next(scheduler));
  scheduler.Add(2, Priority::kCritical, {});
  scheduler.SetReady(2, 1);
  EXPECT_EQ(Next(scheduler), 2u);
  scheduler.Served(2);
  EXPECT_THAT(ServeAll(scheduler), ElementsAre(1, 1, 1, 1, 1, 1));
}

TEST(Scheduler, ALowJobIsPassedABoundedNumberOfTimes) {
  Scheduler scheduler(3);
  scheduler.Add(1, Priority::kLow, {});
  scheduler.SetReady(1, 2);
  scheduler.Add(2, Priority::kCritical, {});
  scheduler.SetReady(2, 9);
  EXPECT_THAT(ServeAll(scheduler), ElementsAre(2, 2, 2, 1, 2, 2, 2, 1, 2, 2, 2));
}

TEST(Scheduler, LaterJobsOfTheSamePriorityAreInTheirPlaceNotPassed) {
  Scheduler scheduler(2);
  scheduler.Add(1, Priority::kNormal, {});
  scheduler.SetReady(1, 6);
  scheduler.Add(2, Priority::kNormal, {});
  scheduler.SetReady(2, 1);
  EXPECT_THAT(ServeAll(scheduler), ElementsAre(1, 1, 1, 1, 1, 1, 2));
}

TEST(Scheduler, WhoMayNotGoIsPassedOver) {
  Scheduler scheduler(100);
  scheduler.Add(1, Priority::kCritical, {});
  scheduler.Add(2, Priority::kLow, {});
  scheduler.SetReady(1, 1);
  scheduler.SetReady(2, 1);
  EXPECT_EQ(scheduler.Next([](uint64_t key) { return key != 1; }), 2u);
  EXPECT_EQ(scheduler.Next([](uint64_t) { return false; }), std::nullopt);
}

TEST(Scheduler, KnowsDeadlines) {
  Scheduler scheduler(1);
  TimePoint start{};
  EXPECT_EQ(scheduler.NextDeadline(), std::nullopt);
  scheduler.Add(1, Priority::kNormal, start + seconds(5));
  scheduler.Add(2, Priority::kNormal, {});
  scheduler.Add(3, Priority::kNormal, start + seconds(3));
  EXPECT_EQ(scheduler.NextDeadline(), start + seconds(3));
  EXPECT_THAT(scheduler.Expired(start + seconds(2)), ElementsAre());
  EXPECT_THAT(scheduler.Expired(start + seconds(3)), ElementsAre(3));
  EXPECT_THAT(scheduler.Expired(start + seconds(9)), ElementsAre(1, 3));
  scheduler.Remove(3);
  scheduler.Remove(3);
  EXPECT_EQ(scheduler.NextDeadline(), start + seconds(5));
  EXPECT_EQ(scheduler.size(), 2u);
}

/// Random jobs and turns; what must hold whatever happens.
RC_GTEST_PROP(SchedulerProperty, ServesTheBestAndStarvesNobody,
              (const std::vector<std::pair<uint8_t, uint8_t>>& steps)) {
  constexpr uint32_t kOvertakes = 4;
  Scheduler scheduler(kOvertakes);
  struct Model {
    Priority priority;
    uint32_t ready = 0;
    uint32_t passed_by_higher = 0;
  };
  std::map<uint64_t, Model> model;
  uint64_t next_key = 1;
  for (auto [what, amount] : steps) {
    if (what % 3 == 0) {
      Priority priority = static_cast<Priority>(1 + amount % 4);
      scheduler.Add(next_key, priority, {});
      model[next_key++] = {priority};
    } else if (what % 3 == 1 && !model.empty()) {
      auto it = std::next(model.begin(), amount % static_cast<ptrdiff_t>(model.size()));
      it->second.ready = 1 + amount % 5;
      it->second.passed_by_higher = 0;
      scheduler.SetReady(it->first, it->second.ready);
    } else {
      auto key = Next(scheduler);
      bool any = std::any_of(model.begin(), model.end(), [](const auto& m) { return m.second.ready > 0; });
      RC_ASSERT(key.has_value() == any);
      if (!key) continue;
      Model& served = model.at(*key);
      RC_ASSERT(served.ready > 0);
      size_t waiting = 0;
      for (auto& [other_key, other] : model) {
        if (other_key == *key || other.ready == 0) continue;
        ++waiting;
        if (served.priority > other.priority) other.passed_by_higher++;
        // Each waiting job may cost the others its own overdue turns besides the allowed overtakes.
        RC_ASSERT(other.passed_by_higher <= kOvertakes + model.size());
      }
      served.ready--;
      served.passed_by_higher = 0;
      scheduler.Served(*key);
    }
  }
}

}  // namespace
}  // namespace cuzk::engine
