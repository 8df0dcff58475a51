#include "daemon/app/cards/device_wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace cuzk::daemon {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A wait of two minutes on a clock that goes on by ten seconds in each pause.
class DeviceWaitTest : public ::testing::Test {
 protected:
  StatusOr<DeviceChoice> Await() {
    return AwaitDevices({.limit = seconds(120),
                         .now = [this] { return now_; },
                         .look = [this] { return Look(); },
                         .tell =
                             [this](const std::string& why) {
                               told_.push_back(why);
                               return telling_;
                             },
                         .pause =
                             [this] {
                               now_ += seconds(10);
                               return now_ < stop_;
                             }});
  }
  DeviceSearch Look() {
    looks_++;
    DeviceSearch search{.choice = absl::UnavailableError(StrCat("look ", looks_)), .present = 1, .may_come = may_come_};
    if (looks_ == found_at_) search.choice = DeviceChoice{.explanation = "found"};
    return search;
  }

  std::chrono::steady_clock::time_point now_{}, stop_ = now_ + std::chrono::hours(1);
  int looks_ = 0, found_at_ = 0;
  bool may_come_ = true;
  Status telling_;
  std::vector<std::string> told_;
};

TEST_F(DeviceWaitTest, WhatIsThereIsNotWaitedFor) {
  found_at_ = 1;
  EXPECT_TRUE(Await().ok());
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(DeviceWaitTest, WhatComesLateIsTaken) {
  found_at_ = 4;
  StatusOr<DeviceChoice> choice = Await();
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->explanation, "found");
  EXPECT_THAT(told_, ElementsAre("look 1", "look 2", "look 3"));
}

TEST_F(DeviceWaitTest, ItEndsAfterItsTimeWithTheLastReason) {
  const Status status = Await().status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_EQ(status.message(), "waited 120 s (devices.wait): look 13");
  EXPECT_EQ(told_.size(), 12);
}

TEST_F(DeviceWaitTest, WhatCannotComeEndsItAtOnce) {
  may_come_ = false;
  EXPECT_EQ(Await().status().message(), "look 1");
}

TEST_F(DeviceWaitTest, AStopEndsIt) {
  stop_ = now_ + seconds(30);
  EXPECT_TRUE(absl::IsCancelled(Await().status()));
  EXPECT_EQ(looks_, 3);
}

TEST_F(DeviceWaitTest, AnAddressThatCannotBeServedEndsIt) {
  telling_ = absl::FailedPreconditionError("http.listen: taken");
  EXPECT_THAT(std::string(Await().status().message()), HasSubstr("taken"));
}

}  // namespace
}  // namespace cuzk::daemon
