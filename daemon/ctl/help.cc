// help, version.

#include "daemon/common/json_writer.h"
#include "daemon/common/version.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/settings/usage.h"

namespace cuzk::daemon {
namespace {

const CLI::App* SubcommandOf(const CLI::App& app, const std::string& name) {
  for (const CLI::App* sub : SubcommandsOf(app)) {
    if (sub->get_name() == name) return sub;
  }
  return nullptr;
}

StatusOr<ControlExit> RunHelp(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* app = &program;
  std::string path = program.get_name();
  for (const std::string& word : words) {
    const CLI::App* sub = SubcommandOf(*app, word);
    if (sub == nullptr) {
      return UsageMistake(absl::InvalidArgumentError(NoSubcommand(*app, word)));
    }
    app = sub;
    path = StrCat(path, " ", word);
  }
  // Not App::help, which goes on to the subcommand that was parsed: this one.
  std::string text = app->get_formatter()->make_help(app, path, CLI::AppFormatMode::Normal);
  text.erase(text.find_last_not_of('\n') + 1);
  PrintLine(text);
  return ControlExit::kOk;
}

StatusOr<ControlExit> RunVersion(const Session& session) {
  if (!session.json) {
    PrintLine(VersionText("cuzkctl"));
    return ControlExit::kOk;
  }
  const BuildInfo build = Build();
  JsonWriter json;
  json.BeginObject().Member("version", build.version).Member("revision", build.revision).Member("cuda", build.cuda);
  PrintLine(json.Member("compiler", build.compiler).EndObject().text());
  return ControlExit::kOk;
}

}  // namespace

void AddHelp(CLI::App& program, Commands& commands) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* help = program.add_subcommand("help", "Show the help of cuzkctl or of a subcommand");
  help->add_option("COMMAND", *words, "Subcommand, such as prove or params make");
  commands.push_back({.app = help,
                      .action = [&program, words](const Session&) { return RunHelp(program, *words); },
                      .tolerant = true});
  CLI::App* version = program.add_subcommand("version", "Show the version of cuzkctl");
  commands.push_back({.app = version, .action = RunVersion, .tolerant = true});
}

}  // namespace cuzk::daemon
