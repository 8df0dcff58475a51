#include "daemon/app/watch/stall_watch.h"

#include <gmock/gmock.h>

namespace cuzk::daemon {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

/// Two devices, looked at once a second; patience is a minute.
class Stall : public testing::Test {
 protected:
  /// Lets so many seconds pass in which the second device works if it is busy; what the last look found.
  std::vector<size_t> Pass(int count) {
    std::vector<size_t> found;
    for (int i = 0; i < count; ++i) {
      now_ += seconds(1);
      if (sample_.devices[1].busy) sample_.devices[1].work = StrCat(++turns_);
      found = watch_.See(sample_, now_);
    }
    return found;
  }
  StallWatch watch_{seconds(60)};
  engine::TimePoint now_{std::chrono::hours(1)};
  int turns_ = 0;
  LivenessSample sample_{
      .devices = {{.name = "0", .busy = true, .work = std::string("1")}, {.name = "1", .busy = true}}};
};

TEST_F(Stall, ADeviceThatStandsStillWhileAnotherOneWorksIsFound) {
  EXPECT_THAT(Pass(60), IsEmpty());
  EXPECT_THAT(Pass(5), ElementsAre(0));
  sample_.devices[0].work = std::string("2");
  EXPECT_THAT(Pass(1), IsEmpty());
}

TEST_F(Stall, OneThatIsIdleWouldDoTheWork) {
  sample_.devices[1].busy = false;
  EXPECT_THAT(Pass(65), ElementsAre(0));
}

TEST_F(Stall, WhereAllStandStillNoneIsToBlame) {
  Pass(1);
  for (int i = 0; i < 100; ++i) {
    now_ += seconds(1);
    EXPECT_THAT(watch_.See(sample_, now_), IsEmpty());
  }
}

TEST_F(Stall, OneThatIsOutIsNoOther) {
  sample_.devices[1].lost = true;
  EXPECT_THAT(Pass(100), IsEmpty());
}

TEST_F(Stall, AnIdleDeviceHasTimeFromItsFirstPartitionOn) {
  sample_.devices[0].busy = false;
  Pass(100);
  sample_.devices[0].busy = true;
  EXPECT_THAT(Pass(60), IsEmpty());
  EXPECT_THAT(Pass(5), ElementsAre(0));
}

TEST_F(Stall, TheTimeInWhichTheProcessOrTheStoreStoodStillCountsForNothing) {
  Pass(50);
  now_ += seconds(1000);
  EXPECT_THAT(Pass(1), IsEmpty());
  EXPECT_THAT(Pass(50), IsEmpty());
  sample_.store_hangs = true;
  EXPECT_THAT(Pass(100), IsEmpty());
  sample_.store_hangs = false;
  EXPECT_THAT(Pass(50), IsEmpty());
}

TEST_F(Stall, TheProcessorMayTakeItsTime) {
  sample_.devices[0].on_processor = true;
  EXPECT_THAT(Pass(100), IsEmpty());
}

}  // namespace
}  // namespace cuzk::daemon
