#include "daemon/common/json_writer.h"

#include <gtest/gtest.h>

#include <limits>

namespace cuzk::daemon {
namespace {

TEST(JsonWriterTest, CommasAndNestingAreRight) {
  JsonWriter json;
  json.BeginObject().Member("a", 1).Key("b").BeginArray().Value(true).Value("x").BeginObject().EndObject();
  json.BeginArray().EndArray().EndArray().Member("c", std::string("y")).Key("d").Null().EndObject();
  EXPECT_EQ(json.text(), R"({"a":1,"b":[true,"x",{},[]],"c":"y","d":null})");
}

TEST(JsonWriterTest, NumbersAreWholeOrHaveThreeDecimals) {
  JsonWriter json;
  json.BeginArray().Value(std::numeric_limits<uint64_t>::max()).Value(-1).Value(0.5).Value(1e20);
  json.Value(std::numeric_limits<double>::quiet_NaN()).Value(std::numeric_limits<double>::infinity()).EndArray();
  EXPECT_EQ(json.text(), "[18446744073709551615,-1,0.500,100000000000000000000.000,null,null]");
}

TEST(JsonWriterTest, TextIsEscaped) {
  JsonWriter json;
  json.BeginObject().Member("a\"b", "\x01\n\\").EndObject();
  EXPECT_EQ(json.text(), "{\"a\\\"b\":\"\\u0001\\n\\\\\"}");
}

}  // namespace
}  // namespace cuzk::daemon
