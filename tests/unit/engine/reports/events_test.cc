#include "core/engine/reports/events.h"

#include <gtest/gtest.h>

#include <thread>

namespace cuzk::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

JobProgress Progress(uint64_t key, uint32_t done, JobState state = JobState::kRunning) {
  return {.job_id = StrCat("job ", key), .key = key, .state = state, .partitions_total = 10, .partitions_done = done};
}
TimePoint Soon() { return std::chrono::steady_clock::now() + std::chrono::minutes(5); }
TimePoint AlreadyPast() { return std::chrono::steady_clock::now(); }

TEST(Events, KeepsOnlyTheLatestOfEachJob) {
  EventHub hub;
  auto watcher = hub.Watch(std::nullopt, {});
  for (uint32_t i = 0; i < 100; ++i) hub.Publish(Progress(1, i));
  hub.Publish(Progress(2, 7));
  auto first = watcher->Next(Soon(), {});
  auto second = watcher->Next(Soon(), {});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->partitions_done + second->partitions_done, 99u + 7u);
  EXPECT_EQ(watcher->Next(AlreadyPast(), {}), std::nullopt);
}

TEST(Events, AtMostOneInAnIntervalAndJobAndTheLastOneAlwaysComes) {
  EventHub hub;
  auto watcher = hub.Watch(1, {Progress(1, 0)});
  TimePoint begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(watcher->Next(Soon(), {}));
  hub.Publish(Progress(1, 1));
  hub.Publish(Progress(1, 2, JobState::kCompleted));
  hub.Publish(Progress(2, 5));  // of another job
  auto last = watcher->Next(Soon(), {});
  ASSERT_TRUE(last);
  EXPECT_EQ(last->state, JobState::kCompleted);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, kEventInterval);
  EXPECT_TRUE(watcher->over());
  EXPECT_EQ(watcher->Next(Soon(), {}), std::nullopt);
}

TEST(Events, EndAndStopWakeTheReader) {
  EventHub hub;
  auto watcher = hub.Watch(std::nullopt, {});
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_EQ(watcher->Next(Soon(), stop.get_token()), std::nullopt);
  EXPECT_FALSE(watcher->over());
  hub.Publish(Progress(1, 1));
  std::jthread ender([&] { hub.End(); });
  EXPECT_TRUE(watcher->Next(Soon(), {}));  // what was there is still told
  EXPECT_EQ(watcher->Next(Soon(), {}), std::nullopt);
  EXPECT_TRUE(watcher->over());
  EXPECT_TRUE(hub.Watch(1, {})->over());
}

TEST(Events, NobodyWatchesOnceTheWatcherIsGone) {
  EventHub hub;
  EXPECT_FALSE(hub.watched());
  auto watcher = hub.Watch(1, {});
  EXPECT_TRUE(hub.watched());
  watcher.reset();
  EXPECT_FALSE(hub.watched());
  hub.Publish(Progress(1, 1));
}

}  // namespace
}  // namespace cuzk::engine
