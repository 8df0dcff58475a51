#include "core/filecoin/format/json_fault.h"

#include <gtest/gtest.h>
#include <simdjson.h>

namespace cuzk::filecoin {
namespace {

TEST(JsonFaultTest, NothingIsWrongWithJson) {
  for (const char* text :
       {"{}", "[]", " [1, -2.5e+3, \"a\\u00e4\\n\", true, false, null, {\"a\": [{}]}] ", "0", "\"\""}) {
    EXPECT_EQ(JsonFault(text), "") << text;
  }
}

TEST(JsonFaultTest, LineColumnAndWhatWasExpected) {
  EXPECT_EQ(JsonFault(""), "1:1: expected a value");
  EXPECT_EQ(JsonFault("{\n  \"a\": 1\n  \"b\": 2\n}"), "3:3: expected ',' or '}'");
  EXPECT_EQ(JsonFault("{\"a\": 1,}"), "1:9: expected a key in double quotes");
  EXPECT_EQ(JsonFault("{\"a\" 1}"), "1:6: expected ':'");
  EXPECT_EQ(JsonFault("[1 2]"), "1:4: expected ',' or ']'");
  EXPECT_EQ(JsonFault("[tru]"), "1:5: expected true");
  EXPECT_EQ(JsonFault("[01]"), "1:3: expected ',' or ']'");
  EXPECT_EQ(JsonFault("[1.]"), "1:4: expected a digit");
  EXPECT_EQ(JsonFault("\"a\nb\""), "1:3: expected the end of the string in this line");
  EXPECT_EQ(JsonFault("\"\\x\""), "1:3: expected a valid escape");
  EXPECT_EQ(JsonFault("\"abc"), "1:5: expected '\"'");
  EXPECT_EQ(JsonFault("{} {}"), "1:4: expected the end of the text");
}

TEST(JsonFaultTest, DeepNestingEnds) {
  EXPECT_EQ(JsonFault(std::string(1'000'000, '[')), "1:258: expected fewer levels");
}

// Every cut and every changed character of a text is judged as the library judges it.
TEST(JsonFaultTest, AgreesWithTheLibrary) {
  const std::string whole = R"({"kind": "porep", "list": [1, -2.5e3, true], "x": {"a": null, "b": "c\u00e4"}})";
  simdjson::dom::parser parser;
  auto agree = [&](const std::string& text) {
    simdjson::dom::element root;
    const bool right = parser.parse(text).get(root) == simdjson::SUCCESS;
    EXPECT_EQ(JsonFault(text).empty(), right) << text;
  };
  for (size_t i = 0; i <= whole.size(); ++i) agree(whole.substr(0, i));
  for (size_t i = 0; i < whole.size(); ++i) {
    for (char c : {'{', '}', '[', ']', ',', ':', '"', '0', '-', 'e', 't', ' ', '\\'}) {
      std::string changed = whole;
      changed[i] = c;
      agree(changed);
    }
  }
}

TEST(JsonFaultTest, TheFileIsNamed) {
  EXPECT_EQ(JsonMistake("a/request.json", "{", "x"), "a/request.json:1:2: expected a key in double quotes");
  EXPECT_EQ(JsonMistake("a/request.json", "{}", "not an object"), "a/request.json: not an object");
}

}  // namespace
}  // namespace cuzk::filecoin
