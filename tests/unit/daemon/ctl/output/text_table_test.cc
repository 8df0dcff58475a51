#include "daemon/ctl/output/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/ctl/output/figures.h"

namespace cuzk::daemon {
namespace {

using ::testing::ElementsAre;

TEST(TextTableTest, ColumnsAreAlignedAndLinesDoNotEndWithBlanks) {
  TextTable table({"KIND", ">WAITING", "STATE"});
  EXPECT_TRUE(table.empty());
  table.Add({"porep", "3", "in use"});
  table.Add({"l\xc3\xa4nger", "12", ""});
  EXPECT_FALSE(table.empty());
  EXPECT_THAT(table.Lines(), ElementsAre("KIND    WAITING  STATE",  //
                                         "porep         3  in use", "l\xc3\xa4nger       12"));
}

TEST(TextTableTest, TextsAreFittedByColumnsNotBytes) {
  EXPECT_EQ(ColumnsOf("\xc3\xa4"
                      "b"),
            2u);
  EXPECT_EQ(FitTo("\xc3\xa4"
                  "bc",
                  2),
            "\xc3\xa4"
            "b");
  EXPECT_EQ(FitTo("a", 3), "a  ");
  EXPECT_EQ(FitTo("abc", 0), "");
}

TEST(FiguresTest, PeopleReadThem) {
  EXPECT_EQ(Amount(uint64_t{12} << 20), "12 MiB");
  EXPECT_EQ(Amount(uint64_t{47'400'000'000}), "44.1 GiB");
  EXPECT_EQ(Share(uint64_t{3} << 29, uint64_t{8} << 30), "1.5 of 8.0 GiB");
  EXPECT_EQ(DurationText(18.4), "18 s");
  EXPECT_EQ(DurationText(-1), "0 s");
  EXPECT_EQ(DurationText(700), "11 min");
  EXPECT_EQ(DurationText(3 * 3600 + 300), "3 h 5 min");
  EXPECT_EQ(DurationText(2 * 86400 + 4 * 3600), "2 d 4 h");
  EXPECT_EQ(Percent(0.999), "99 %");
}

}  // namespace
}  // namespace cuzk::daemon
