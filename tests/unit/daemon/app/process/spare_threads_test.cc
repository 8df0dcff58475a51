#include "daemon/app/process/spare_threads.h"

#include <gmock/gmock.h>

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;

TEST(SpareThreadsTest, NoMoreAreTriedThanAsked) {
  EXPECT_EQ(SpareThreads(0), 0u);
  EXPECT_EQ(SpareThreads(5), 5u);
}

TEST(SpareThreadsTest, TheErrorSaysHowManyAndWhatToRaise) {
  EXPECT_TRUE(CheckThreads(100, 100).ok());
  const Status few = CheckThreads(37, 100);
  EXPECT_TRUE(absl::IsResourceExhausted(few));
  EXPECT_THAT(std::string(few.message()), HasSubstr("there are too few threads: 37 of 100 can be started ("));
  EXPECT_THAT(std::string(few.message()), HasSubstr("TasksMax="));
}

}  // namespace
}  // namespace cuzk::daemon
