#include "core/engine/schedule/choice.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cuzk::engine {
namespace {

using std::chrono::milliseconds;

TEST(Choice, BeforeAnythingIsKnownTheLeastLoadedOneIsTaken) {
  EXPECT_EQ(ChooseBySpeed({}), std::nullopt);
  EXPECT_EQ(ChooseBySpeed({{.load = 0}, {.load = 0}}), 0u);
  EXPECT_EQ(ChooseBySpeed({{.load = 2}, {.load = 1}}), 1u);
}

TEST(Choice, TheOneThatWouldBeDoneFirstIsTaken) {
  // The fast one is done with two at 200 ms, when the slow one is done with its first.
  EXPECT_EQ(ChooseBySpeed({{.load = 0, .pace = milliseconds(250)}, {.load = 1, .pace = milliseconds(100)}}), 1u);
  EXPECT_EQ(ChooseBySpeed({{.load = 0, .pace = milliseconds(250)}, {.load = 3, .pace = milliseconds(100)}}), 0u);
}

TEST(Choice, AFastOneWithoutRoomIsWaitedFor) {
  EXPECT_EQ(
      ChooseBySpeed({{.load = 0, .pace = milliseconds(1000)}, {.load = 4, .room = false, .pace = milliseconds(100)}}),
      std::nullopt);
}

TEST(Choice, OneThatHasNotProvedYetIsTriedAsIfItWereTheFastest) {
  EXPECT_EQ(ChooseBySpeed({{.load = 1, .pace = milliseconds(100)}, {.load = 0}}), 1u);
  EXPECT_EQ(ChooseBySpeed({{.load = 0, .pace = milliseconds(100)}, {.load = 1}}), 0u);
}

/// Two devices in simulated time, of which the first is so much slower; how many of `partitions` each gets.
std::array<int, 2> Spread(int partitions, int slower) {
  struct Double {
    Duration pace{};
    size_t load = 0;
    Duration free_at{};
  };
  std::array<Double, 2> devices = {Double{milliseconds(100 * slower)}, Double{milliseconds(100)}};
  std::array<int, 2> given{};
  Duration now{};
  std::vector<std::pair<Duration, size_t>> ends;  // of what is on the way
  while (partitions > 0) {
    std::vector<Candidate> candidates;
    for (const Double& device : devices) {
      candidates.push_back({.load = device.load, .room = device.load < 4, .pace = device.pace});
    }
    if (const auto chosen = ChooseBySpeed(candidates)) {
      Double& device = devices[*chosen];
      device.load++;
      device.free_at = std::max(device.free_at, now) + device.pace;
      ends.emplace_back(device.free_at, *chosen);
      given[*chosen]++;
      --partitions;
      continue;
    }
    const auto next = std::min_element(ends.begin(), ends.end());
    now = next->first;
    devices[next->second].load--;
    ends.erase(next);
  }
  return given;
}

TEST(Choice, WorkIsSpreadBySpeedAndNotByTurns) {
  EXPECT_EQ(Spread(30, 1), (std::array<int, 2>{15, 15}));
  EXPECT_EQ(Spread(30, 2), (std::array<int, 2>{10, 20}));
  // Ten partitions of a proof: the slow one takes no more than it ends in time.
  EXPECT_EQ(Spread(10, 4)[0], 2);
}

}  // namespace
}  // namespace cuzk::engine
