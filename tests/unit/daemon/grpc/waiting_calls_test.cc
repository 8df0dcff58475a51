#include "daemon/grpc/waiting_calls.h"

#include <gmock/gmock.h>

#include <vector>

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;

/// Takes seats until there is none, and says how many there were.
size_t TakeAll(WaitingCalls& calls, std::vector<WaitingCalls::Seat>& seats, Share share) {
  size_t taken = 0;
  for (; taken < 1000; ++taken) {
    StatusOr<WaitingCalls::Seat> seat = calls.Enter(share);
    if (!seat.ok()) return taken;
    seats.push_back(*std::move(seat));
  }
  return taken;
}

TEST(WaitingCallsTest, ThreadsAreKeptForCallsThatDoNotWaitAndSomeOfThemForUrgentOnes) {
  struct Row {
    uint64_t threads;
    size_t usual, urgent;
  };
  // An eighth is kept, and at least four; half of that may be taken by urgent calls.
  for (const Row& row : {Row{8, 4, 2}, Row{16, 12, 2}, Row{32, 28, 2}, Row{64, 56, 4}, Row{512, 448, 32}}) {
    WaitingCalls calls(row.threads);
    std::vector<WaitingCalls::Seat> seats;
    EXPECT_EQ(TakeAll(calls, seats, Share::kWaiting), row.usual) << row.threads;
    EXPECT_EQ(TakeAll(calls, seats, Share::kUrgent), row.urgent) << row.threads;
    EXPECT_EQ(TakeAll(calls, seats, Share::kWaiting), 0u) << row.threads;
  }
}

TEST(WaitingCallsTest, ViewersHaveAQuarterAndNeverShutOutProvers) {
  WaitingCalls calls(16);
  std::vector<WaitingCalls::Seat> viewers, provers;
  EXPECT_EQ(TakeAll(calls, viewers, Share::kViewers), 4u);
  EXPECT_THAT(std::string(calls.Enter(Share::kViewers).status().message()),
              HasSubstr("4 of 16 threads (grpc.threads)"));
  EXPECT_EQ(TakeAll(calls, provers, Share::kWaiting), 8u);
  EXPECT_EQ(TakeAll(calls, provers, Share::kUrgent), 2u);
  // A viewer's place is a place for anybody, but not the other way.
  viewers.clear();
  EXPECT_EQ(TakeAll(calls, provers, Share::kWaiting), 2u);
  EXPECT_EQ(TakeAll(calls, viewers, Share::kViewers), 0u);
  provers.clear();
  EXPECT_EQ(TakeAll(calls, viewers, Share::kViewers), 4u);
}

TEST(WaitingCallsTest, ASeatIsGivenBackAndARefusalTakesNone) {
  WaitingCalls calls(8);
  std::vector<WaitingCalls::Seat> seats;
  ASSERT_EQ(TakeAll(calls, seats, Share::kWaiting), 4u);
  for (int i = 0; i < 10; ++i) {
    const Status refused = calls.Enter().status();
    EXPECT_TRUE(absl::IsResourceExhausted(refused));
    EXPECT_THAT(std::string(refused.message()), HasSubstr("4 of 8 threads (grpc.threads)"));
  }
  seats.pop_back();
  EXPECT_EQ(TakeAll(calls, seats, Share::kWaiting), 1u);
  seats.clear();
  EXPECT_EQ(TakeAll(calls, seats, Share::kWaiting), 4u);
}

}  // namespace
}  // namespace cuzk::daemon
