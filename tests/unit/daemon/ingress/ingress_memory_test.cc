#include "daemon/ingress/ingress_memory.h"

#include <gtest/gtest.h>

namespace cuzk::daemon {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(IngressMemoryTest, LargeMessagesLeaveAnEighthToSmallOnes) {
  IngressMemory memory(64 * kMiB);
  EXPECT_TRUE(memory.Arrive(7, 28 * kMiB));  // counts twice: 56 of 64
  EXPECT_FALSE(memory.Arrive(7, 2 * kMiB));
  EXPECT_TRUE(memory.Arrive(7, kMiB));
  EXPECT_TRUE(memory.Take(kMiB));
}

TEST(IngressMemoryTest, OneMessageMayHaveAllThatLargeOnesMayHave) {
  IngressMemory memory(64 * kMiB);
  EXPECT_EQ(memory.LargestMessage(), 56 * kMiB);
  EXPECT_FALSE(memory.Arrive(7, 56 * kMiB + 1));
  ASSERT_TRUE(memory.Take(kMiB));
  EXPECT_TRUE(memory.Arrive(7, 56 * kMiB));
  EXPECT_FALSE(memory.Arrive(7, UINT64_MAX));
}

TEST(IngressMemoryTest, AParsedMessageGivesItsRoomBackOnce) {
  IngressMemory memory(64 * kMiB);
  ASSERT_TRUE(memory.Arrive(7, 100));
  memory.Parsed("fd:8", 100);
  memory.Parsed("fd:7", 99);
  memory.Parsed("unix:", 100);
  EXPECT_EQ(memory.in_use(), 200 + IngressMemory::kMessageBytes);
  memory.Parsed("fd:7", 100);
  memory.Parsed("fd:7", 100);
  memory.Limit(7, 100, 0);
  EXPECT_EQ(memory.in_use(), 0u);
}

TEST(IngressMemoryTest, TheEndOfACallLeavesTheMessagesOfOthers) {
  IngressMemory memory(64 * kMiB);
  // Two calls with messages of one length; one has been parsed, then that call ends.
  ASSERT_TRUE(memory.Arrive(7, 100));
  ASSERT_TRUE(memory.Arrive(7, 100));
  memory.Parsed("fd:7", 100);
  memory.Limit(7, 100, 1);
  EXPECT_EQ(memory.in_use(), 200 + IngressMemory::kMessageBytes);
  memory.Limit(7, 100, 0);
  EXPECT_EQ(memory.in_use(), 0u);
}

TEST(IngressMemoryTest, AClosedConnectionHoldsNothing) {
  IngressMemory memory(64 * kMiB);
  ASSERT_TRUE(memory.Arrive(7, 3 * kMiB));
  ASSERT_TRUE(memory.Arrive(7, 5));
  ASSERT_TRUE(memory.Arrive(8, 5));
  memory.Gone(7);
  memory.Gone(7);
  EXPECT_EQ(memory.in_use(), 10 + IngressMemory::kMessageBytes);
  EXPECT_TRUE(memory.Arrive(9, 28 * kMiB));
}

TEST(IngressMemoryTest, ABurstThatIsOverIsToldForAWhile) {
  IngressMemory memory(64 * kMiB);
  ASSERT_TRUE(memory.Take(40 * kMiB));
  EXPECT_FALSE(memory.HasFallen());
  memory.Return(30 * kMiB);
  for (int i = 0; i < IngressMemory::kFallen; ++i) EXPECT_TRUE(memory.HasFallen());
  EXPECT_FALSE(memory.HasFallen());
}

}  // namespace
}  // namespace cuzk::daemon
