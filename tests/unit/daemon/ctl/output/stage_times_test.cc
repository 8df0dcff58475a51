#include "daemon/ctl/output/stage_times.h"

#include <gtest/gtest.h>

namespace cuzk::daemon {
namespace {

constexpr std::string_view kTrace = R"({"displayTimeUnit":"ms","traceEvents":[
{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"device 0 worker 1"}},
{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"synthesis 0"}},
{"ph":"X","cat":"cuzk","name":"msm h","pid":1,"tid":1,"ts":5,"dur":9000000,"args":{"partition":0,"key":1,"job":"a"}},
{"ph":"X","cat":"cuzk","name":"write","pid":1,"tid":2,"ts":5,"dur":250000,"args":{"partition":0,"key":2,"job":"a"}},
{"ph":"X","cat":"cuzk","name":"msm h","pid":1,"tid":1,"ts":9,"dur":1500000,"args":{"partition":0,"key":2,"job":"a"}},
{"ph":"X","cat":"cuzk","name":"msm h","pid":1,"tid":1,"ts":9,"dur":500000,"args":{"partition":1,"key":2,"job":"a"}},
{"ph":"X","cat":"cuzk","name":"idle","pid":1,"tid":1,"ts":9,"dur":500000},
{"ph":"X","cat":"cuzk","name":"msm h","pid":1,"tid":1,"ts":9,"dur":500000,"args":{"partition":1,"key":3,"job":"b"}}
]})";

TEST(StageTimesTest, TheNewestJobOfTheIdIsAddedUp) {
  StatusOr<std::vector<StageTime>> times = StageTimes(kTrace, "a");
  ASSERT_TRUE(times.ok()) << times.status();
  ASSERT_EQ(times->size(), 2u);
  EXPECT_EQ((*times)[0].track, "synthesis");
  EXPECT_EQ((*times)[0].name, "write");
  EXPECT_DOUBLE_EQ((*times)[0].seconds, 0.25);
  EXPECT_EQ((*times)[1].track, "device");
  EXPECT_DOUBLE_EQ((*times)[1].seconds, 2.0);
}

TEST(StageTimesTest, OtherTextIsRefused) {
  EXPECT_TRUE(StageTimes(kTrace, "c")->empty());
  EXPECT_FALSE(StageTimes("", "a").ok());
  EXPECT_FALSE(StageTimes("[]", "a").ok());
  EXPECT_FALSE(StageTimes("{\"traceEvents\":3}", "a").ok());
}

}  // namespace
}  // namespace cuzk::daemon
