#include "daemon/settings/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "daemon/settings/usage.h"

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;

/// "tool" with "status" and "params make --kind TEXT".
struct Tool {
  Tool() {
    app.add_flag("--json", json, "JSON");
    app.require_subcommand(1);
    app.add_subcommand("status", "It's the state");
    CLI::App* params = app.add_subcommand("params", "Files");
    params->require_subcommand(1);
    params->add_subcommand("make", "Make: files")->add_option("--kind", text, "Kind");
  }
  std::string Unknown(const std::string& words) {
    try {
      app.parse(words);
    } catch (const CLI::ParseError&) {
      return FirstUnknownWord(app);
    }
    return "parsed";
  }
  CLI::App app{"Text.", "tool"};
  std::string text;
  bool json = false;
};

TEST(CompletionTest, ScriptsHaveEveryLevelWithItsWordsAndValues) {
  Tool tool;
  const CompletionValues values{{"--kind", {"porep", "snap"}}};
  const std::string bash = CompletionScript(tool.app, "bash", values);
  EXPECT_THAT(bash, HasSubstr("\"params make\") words=\"--help --kind\""));
  EXPECT_THAT(bash, HasSubstr("--kind) COMPREPLY=($(compgen -W \"porep snap\" -- \"$current\"))"));
  EXPECT_THAT(bash, HasSubstr("complete -o filenames -F _tool tool"));
  const std::string zsh = CompletionScript(tool.app, "zsh", values);
  EXPECT_THAT(zsh, HasSubstr("#compdef tool\n"));
  EXPECT_THAT(zsh, HasSubstr("'status:It'\\''s the state'"));
  EXPECT_THAT(zsh, HasSubstr("--kind) compadd -- porep snap; return ;;"));
}

TEST(UsageTest, TheNearestWordIsNamed) {
  EXPECT_EQ(Tool().Unknown("statsu"), "there is no subcommand \"statsu\"; did you mean \"status\"?");
  EXPECT_EQ(Tool().Unknown("params mkae"), "there is no subcommand \"mkae\"; did you mean \"make\"?");
  EXPECT_EQ(Tool().Unknown("params make --kidn porep"), "there is no option \"--kidn\"; did you mean \"--kind\"?");
  EXPECT_EQ(Tool().Unknown("--jsno status"), "there is no option \"--jsno\"; did you mean \"--json\"?");
  EXPECT_EQ(Tool().Unknown("status more"), "unexpected argument \"more\"");
  EXPECT_EQ(Tool().Unknown("frobnicate"), "there is no subcommand \"frobnicate\"");
  EXPECT_EQ(Tool().Unknown(""), "");
  EXPECT_EQ(Tool().Unknown("status"), "parsed");
}

}  // namespace
}  // namespace cuzk::daemon
