#include "daemon/settings/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>

#include "core/base/file.h"
#include "core/base/log.h"
#include "daemon/common/exit_code.h"
#include "daemon/common/version.h"
#include "daemon/settings/completion.h"
#include "daemon/settings/convert_settings.h"
#include "daemon/settings/manual.h"
#include "daemon/settings/metrics_page.h"
#include "daemon/settings/usage.h"

namespace cuzk::daemon {
namespace {

int Fail(const Status& status) {
  std::fprintf(stderr, "cuzkd: %s\n", EscapeControl(StrCat(status.message())).c_str());
  return static_cast<int>(DaemonExit::kConfig);
}

// Our file goes to stdout; what needs a look also to stderr.
int PrintConverted(const std::string& path) {
  StatusOr<std::string> text = ReadFile(path, uint64_t{1} << 20);
  if (!text.ok()) return Fail(text.status());
  StatusOr<Conversion> conversion = ConvertSettings(*text, path);
  if (!conversion.ok()) return Fail(conversion.status());
  std::fputs(conversion->toml.c_str(), stdout);
  for (const ConvertedKey& key : conversion->keys) {
    if (key.fate != ConvertedKey::Fate::kUnknown && key.fate != ConvertedKey::Fate::kNotUnderstood) continue;
    std::fprintf(stderr, "cuzkd: %s\n", EscapeControl(StrCat(path, ": ", key.key, ": ", key.told)).c_str());
  }
  return 0;
}

struct Flags {
  std::string file = "/etc/cuzkd/cuzkd.toml", convert, manual, completion;
  bool print_defaults = false, print_config = false, check_config = false, print_metrics = false;
  std::map<std::string, std::string> values;  ///< of the settings
};

void AddFlags(CLI::App& app, Flags& flags) {
  app.set_help_flag("-h,--help", "Show this help");
  app.set_version_flag("--version", VersionText("cuzkd"), "Show the version and what the build was made with");
  app.add_option("--config", flags.file, "Settings file; /dev/null: read none")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_flag("--print-defaults", flags.print_defaults,
               "Print the example settings file, which shows every setting with its default");
  app.add_flag("--print-config", flags.print_config,
               "Print the settings in force, the source of each, and the values that auto has on this machine");
  app.add_flag("--check-config", flags.check_config,
               "Check the settings and exit; the exit code is 78 if they are wrong");
  app.add_flag("--print-metrics", flags.print_metrics, "Print every metric with its type, labels and meaning");
  app.add_option("--convert-settings", flags.convert,
                 "Convert a settings file of the daemon shipped with Curio: print a file for cuzkd that says what "
                 "became of each key")
      ->type_name("FILE");
  app.add_option("--print-man", flags.manual, "Print a manual page: cuzkd or cuzkd.toml")
      ->type_name("PAGE")
      ->check(CLI::IsMember({"cuzkd", "cuzkd.toml"}));
  app.add_option("--print-completion", flags.completion, "Print the completion script for bash or zsh")
      ->type_name("SHELL")
      ->check(CLI::IsMember({"bash", "zsh"}));
}

// What stands for a value in the help.
std::string PlaceOf(SettingType type) {
  switch (type) {
    case SettingType::kText:
      return "TEXT";
    case SettingType::kBool:
      return "BOOL";
    case SettingType::kInteger:
      return "NUMBER";
    case SettingType::kSize:
      return "SIZE";
    case SettingType::kDuration:
      return "DURATION";
    case SettingType::kMode:
      return "MODE";
    case SettingType::kList:
      return "LIST";
  }
  return "";
}

void AddSettings(CLI::App& app, Flags& flags) {
  for (const SettingRow& row : SettingTable()) {
    app.add_option(StrCat("--", row.name), flags.values[std::string(row.name)], std::string(row.description))
        ->take_last()
        ->group("Settings")
        ->type_name(PlaceOf(row.type))
        ->default_str(std::string(row.default_value));
  }
}

// The exit code, where the program ends with the words.
std::optional<int> Parse(CLI::App& app, int argc, char** argv) {
  try {  // the parser's only way to report
    app.parse(ParserWords(argc, argv));
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (std::string unknown = error.get_exit_code() == 0 ? "" : FirstUnknownWord(app); !unknown.empty()) {
      std::fprintf(stderr, "cuzkd: %s\nRun \"cuzkd --help\" for more information.\n", EscapeControl(unknown).c_str());
      return static_cast<int>(DaemonExit::kUsage);
    }
    return app.exit(error) == 0 ? 0 : static_cast<int>(DaemonExit::kUsage);
  }
}

// The exit code, where something was to be printed that needs no settings.
std::optional<int> Print(const CLI::App& app, const Flags& flags) {
  if (!flags.convert.empty()) return PrintConverted(flags.convert);
  std::string text;
  if (flags.print_metrics) text = MetricsPage();
  if (!flags.completion.empty()) text = CompletionScript(app, flags.completion, SettingValues());
  if (!flags.manual.empty()) text = flags.manual == "cuzkd" ? DaemonManual(app) : SettingsManual();
  if (text.empty()) return std::nullopt;
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

std::vector<std::string> ParserWords(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = argc - 1; i > 0; --i) {
    std::string word = argv[i];
    if (word.size() > 3 && word.starts_with("--") && word.find('=') == word.size() - 1) {
      words.emplace_back();
      word.pop_back();
    }
    words.push_back(std::move(word));
  }
  return words;
}

std::variant<CommandLine, int> ParseCommandLine(int argc, char** argv) {
  Flags flags;
  CLI::App app(
      "Filecoin Groth16 proving daemon. It serves cuzk.v1.ProvingEngine, which Curio uses, and cuzkd.v1.Operator.",
      "cuzkd");
  AddFlags(app, flags);
  AddSettings(app, flags);
  if (std::optional<int> ended = Parse(app, argc, argv)) return *ended;
  if (std::optional<int> ended = Print(app, flags)) return *ended;
  CommandLine line;
  for (const SettingRow& row : SettingTable()) {
    std::string name(row.name);
    if (app.count("--" + name) > 0) line.sources.flags.emplace_back(name, flags.values[name]);
  }
  line.sources.file = flags.file;
  line.sources.file_may_be_missing = app.count("--config") == 0;
  if (flags.print_defaults) line.task = Task::kPrintDefaults;
  if (flags.print_config) line.task = Task::kPrintConfig;
  if (flags.check_config) line.task = Task::kCheckConfig;
  return line;
}

}  // namespace cuzk::daemon
