#include "daemon/http/day_record.h"

#include <gtest/gtest.h>
#include <simdjson.h>

namespace cuzk::daemon {
namespace {

using filecoin::Kind;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

/// A day that a test goes through.
class DayRecordTest : public testing::Test {
 protected:
  DayRecordTest() {
    for (Kind kind : {Kind::kPorep, Kind::kSnap, Kind::kWindow, Kind::kWinning}) status_.kinds[kind] = {};
    status_.devices.resize(2);
    status_.budget.limit_bytes = 100;
  }
  simdjson::dom::element Read() {
    text_ = record_.Json(now_);
    return parser_.parse(text_).value();
  }
  /// Item `back` slots before the present one.
  simdjson::dom::element Of(std::string_view pointer, size_t back) {
    const auto series = Read().at_pointer({pointer.data(), pointer.size()}).get_array().value();
    EXPECT_EQ(series.size(), DayRecord::kSlots);
    return series.at(series.size() - 1 - back).value();
  }
  void Pass(Duration time) {
    now_ += time;
    record_.Add(status_, now_);
  }

  TimePoint now_ = TimePoint{} + hours(1000);
  engine::EngineStatus status_;
  DayRecord record_;
  simdjson::dom::parser parser_;
  std::string text_;
};

TEST_F(DayRecordTest, WhatHappenedBeforeTheFirstLookIsNotCounted) {
  status_.kinds[Kind::kPorep].completed_total = 1000;
  status_.devices[0].busy_seconds_total = 5000;
  Pass(seconds(0));
  EXPECT_EQ(Read()["last_hour"]["porep"].get_uint64().value(), 0u);
  EXPECT_EQ(Of("/busy/0", 0).get_double().value(), 0);
  EXPECT_TRUE(Of("/waiting", 1).is_null());
}

TEST_F(DayRecordTest, EachSlotHasItsOwn) {
  Pass(seconds(0));
  status_.kinds[Kind::kPorep] = {.pending = 7, .completed_total = 3, .failed_total = 1};
  status_.kinds[Kind::kSnap].completed_total = 2;
  status_.devices[1].busy_seconds_total = 30;
  status_.budget.used_bytes = 40;
  Pass(seconds(60));
  EXPECT_EQ(Of("/proofs/porep", 0).get_uint64().value(), 3u);
  EXPECT_EQ(Of("/proofs/snap", 0).get_uint64().value(), 2u);
  EXPECT_EQ(Of("/proofs/window", 0).get_uint64().value(), 0u);
  EXPECT_EQ(Of("/failed", 0).get_uint64().value(), 1u);
  EXPECT_EQ(Of("/waiting", 0).get_uint64().value(), 7u);
  EXPECT_NEAR(Of("/busy/1", 0).get_double().value(), 0.5, 0.01);
  EXPECT_EQ(Of("/busy/0", 0).get_double().value(), 0);
  EXPECT_NEAR(Of("/memory", 0).get_double().value(), 0.4, 0.01);
  status_.kinds[Kind::kPorep] = {.pending = 1, .completed_total = 4, .failed_total = 1};
  Pass(minutes(5));
  EXPECT_EQ(Of("/proofs/porep", 0).get_uint64().value(), 1u);
  EXPECT_EQ(Of("/proofs/porep", 1).get_uint64().value(), 3u);
  EXPECT_EQ(Of("/waiting", 1).get_uint64().value(), 7u);
  EXPECT_EQ(Read()["last_hour"]["porep"].get_uint64().value(), 4u);
  EXPECT_EQ(Read()["failed_last_hour"].get_uint64().value(), 1u);
  now_ += hours(2);
  EXPECT_EQ(Read()["last_hour"]["porep"].get_uint64().value(), 0u);
  EXPECT_TRUE(Of("/waiting", 0).is_null());
  EXPECT_EQ(Of("/proofs/porep", 24).get_uint64().value(), 1u);
}

TEST_F(DayRecordTest, AfterADayOrATotalThatFellNothingIsLeftOver) {
  status_.kinds[Kind::kPorep].completed_total = 9;
  Pass(seconds(0));
  status_.kinds[Kind::kPorep].completed_total = 10;
  Pass(seconds(1));
  status_.kinds[Kind::kPorep].completed_total = 0;
  Pass(hours(24));
  EXPECT_EQ(Of("/proofs/porep", 0).get_uint64().value(), 0u);
  for (size_t i = 1; i < DayRecord::kSlots; ++i) ASSERT_TRUE(Of("/failed", i).is_null()) << i;
}

}  // namespace
}  // namespace cuzk::daemon
