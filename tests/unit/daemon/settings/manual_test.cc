#include "daemon/settings/manual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "core/base/settings/settings.h"
#include "daemon/settings/manual_page.h"

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ManualTest, WhatRoffWouldTakeForMarkupIsEscaped) {
  ManualPage page("x", 1, "brief");
  page.Paragraph(".request").Paragraph("'other").Paragraph("a\\b -c \"d\"").Literal(".one\ntwo");
  EXPECT_THAT(page.text(), HasSubstr("\n\\&.request\n"));
  EXPECT_THAT(page.text(), HasSubstr("\n\\&\\(aqother\n"));
  EXPECT_THAT(page.text(), HasSubstr("\na\\eb \\-c \\(dqd\\(dq\n"));
  EXPECT_THAT(page.text(), HasSubstr("\n.nf\n\\&.one\ntwo\n.fi\n"));
}

TEST(ManualTest, EverySettingIsThere) {
  std::string page = SettingsManual();
  for (const SettingRow& row : SettingTable()) EXPECT_THAT(page, HasSubstr(EnvironmentName(row.name)));
}

TEST(ManualTest, OptionsAndCommandsAreThoseOfTheParser) {
  CLI::App app("Text.", "cuzkctl");
  std::string value;
  bool flag = false;
  app.add_flag("-f,--flag", flag, "Some flag");
  CLI::App* outer = app.add_subcommand("outer", "Outer text");
  CLI::App* inner = outer->add_subcommand("inner", "Inner text");
  inner->add_option("--value", value, "Some value")->required();
  inner->add_option("FILE", value, "Some file");
  std::string page = ControlManual(app);
  EXPECT_THAT(page, HasSubstr("\\fB\\-f, \\-\\-flag\\fR\nSome flag.\n"));
  EXPECT_THAT(page, HasSubstr(".SS outer inner\n.PP\nInner text.\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-\\-value TEXT\\fR\nSome value. Required.\n"));
  EXPECT_THAT(page, HasSubstr("\\fBFILE\\fR\nSome file.\n"));
  EXPECT_THAT(page, Not(HasSubstr(".SS outer\n")));
}

}  // namespace
}  // namespace cuzk::daemon
