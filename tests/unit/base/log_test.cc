#include "core/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace cuzk {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

TEST(LogTest, TextLinesHaveTimeLevelMessageAndFields) {
  std::ostringstream out;
  Logger logger({.stream = &out});
  logger.Warning("job failed", {{"job_id", "porep-1000-7"}, {"err", "partition 3"}});
  EXPECT_THAT(out.str(),
              MatchesRegex("20[-0-9]+T[0-9:.]+Z warning job failed job_id=porep-1000-7 err=\"partition 3\"\n"));
}

TEST(LogTest, AnIdCannotPassForAnotherField) {
  std::ostringstream out;
  Logger logger({.stream = &out});
  logger.Info("x", {{"job_id", "a err=\"b\\"}, {"err", "partition-3"}});
  EXPECT_THAT(out.str(), EndsWith("info x job_id=\"a err=\\\"b\\\\\" err=partition-3\n"));
}

TEST(LogTest, AnErrorCannotPassForAnotherField) {
  std::ostringstream out;
  Logger logger({.stream = &out});
  logger.Info("x", {{"err", "no circuit a\" job_id=b"}, {"kind", "winning"}});
  EXPECT_THAT(out.str(), EndsWith("info x err=\"no circuit a\\\" job_id=b\" kind=winning\n"));
  logger.Info("x", {{"err", "a=b"}});
  EXPECT_THAT(out.str(), EndsWith("info x err=\"a=b\"\n"));
}

TEST(LogTest, JsonLinesAreObjects) {
  std::ostringstream out;
  Logger logger({.json = true, .stream = &out});
  logger.Info("say \"hi\"", {{"job_id", "a\\b"}});
  EXPECT_THAT(out.str(), StartsWith("{\"ts\":\"20"));
  EXPECT_THAT(out.str(), EndsWith("Z\",\"level\":\"info\",\"msg\":\"say \\\"hi\\\"\",\"job_id\":\"a\\\\b\"}\n"));
}

TEST(LogTest, JournalLinesBeginWithTheirPriority) {
  std::ostringstream out;
  Logger logger({.journal_priority = true, .stream = &out});
  logger.Error("lost");
  EXPECT_EQ(out.str(), "<3>error lost\n");
}

TEST(LogTest, JsonLinesBeginWithTheirPriorityToo) {
  std::ostringstream out;
  Logger logger({.json = true, .journal_priority = true, .stream = &out});
  logger.Warning("slow", {{"dur_ms", "12"}});
  EXPECT_THAT(out.str(), StartsWith("<4>{\"ts\":\"20"));
  EXPECT_THAT(out.str(), EndsWith("\"msg\":\"slow\",\"dur_ms\":12}\n"));
}

TEST(LogTest, RepeatedWarningsAreCountedInstead) {
  std::chrono::steady_clock::time_point now{};
  std::ostringstream out;
  auto lines = [&] {
    std::string text = out.str();
    return static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
  };
  Logger logger({.stream = &out, .now = [&] { return now; }});
  for (int i = 0; i < 100; ++i) logger.Warning("job failed", {{"job_id", std::to_string(i)}});
  EXPECT_EQ(lines(), Logger::kRepeats);
  logger.Error("another");
  for (int i = 0; i < 100; ++i) logger.Info("proof verified");
  EXPECT_EQ(lines(), Logger::kRepeats + 101);
  now += Logger::kRepeatWindow;
  logger.Info("later");
  EXPECT_THAT(out.str(), HasSubstr("warning 80 more messages like this were left out: job failed\n"));
  logger.Warning("job failed", {{"job_id", "last"}});
  EXPECT_THAT(out.str(), EndsWith("warning job failed job_id=last\n"));
}

TEST(LogTest, WhatWasLeftOutIsToldAtTheEndAtTheLatest) {
  std::ostringstream out;
  {
    Logger logger({.stream = &out});
    for (int i = 0; i < 25; ++i) logger.Warning("job failed");
  }
  EXPECT_THAT(out.str(), EndsWith("5 more messages like this were left out: job failed\n"));
}

TEST(LogTest, LowerLevelsAreLeftOutUntilAsked) {
  std::ostringstream out;
  Logger logger({.level = LogLevel::kInfo, .stream = &out});
  logger.Debug("one");
  EXPECT_EQ(out.str(), "");
  logger.SetLevel(LogLevel::kDebug);
  logger.Debug("two");
  EXPECT_THAT(out.str(), HasSubstr("debug two"));
}

// A request id may hold anything; it must not forge a line nor move the cursor.
TEST(LogTest, ControlCharactersStayOnTheLine) {
  for (bool json : {false, true}) {
    std::ostringstream out;
    Logger logger({.json = json, .stream = &out});
    logger.Info("x", {{"job_id", "a\nb\x1b[2J\xc2\x9b\xff\x7f%s{}"}});
    std::string line = out.str();
    ASSERT_EQ(line.back(), '\n');
    line.pop_back();
    for (char c : line) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << line;
    EXPECT_THAT(line, HasSubstr("a\\nb"));
    EXPECT_THAT(line, HasSubstr("%s{}"));
  }
}

TEST(LogTest, Utf8IsKeptAndBrokenUtf8IsEscaped) {
  EXPECT_EQ(EscapeJson("f\xc3\xbcr \xe2\x82\xac \xf0\x9f\x98\x80"), "f\xc3\xbcr \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(EscapeControl("\xc3"), "\\xc3");
  EXPECT_EQ(EscapeControl("\xc0\xaf"), "\\xc0\\xaf");
  EXPECT_EQ(EscapeControl("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(EscapeJson("\xe2\x82"), "\\u00e2\\u0082");
}

}  // namespace
}  // namespace cuzk
