#include "daemon/settings/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "core/base/file.h"
#include "core/base/log.h"
#include "daemon/common/exit_code.h"
#include "daemon/common/version.h"
#include "daemon/settings/convert_settings.h"
#include "daemon/settings/manual.h"

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
  CommandLine line;
  std::string file = "/etc/cuzkd/cuzkd.toml";
  bool print_defaults = false, print_config = false, check_config = false;
  CLI::App app("Filecoin Groth16 proving daemon. Serves cuzk.v1.ProvingEngine and cuzkd.v1.Operator.", "cuzkd");
  app.set_version_flag("--version", VersionText("cuzkd"));
  CLI::Option* config = app.add_option("--config", file, "Settings file; /dev/null for none")->capture_default_str();
  app.add_flag("--print-defaults", print_defaults, "Print the example settings file");
  app.add_flag("--print-config", print_config,
               "Print the effective settings, where each came from, and what auto comes to here");
  app.add_flag("--check-config", check_config,
               "Read and check the settings, serve nothing; exit code 78 if they are wrong");
  std::string convert, manual;
  app.add_option("--convert-settings", convert,
                 "Print our settings file for one of the daemon that Curio ships, and what became of each key")
      ->type_name("FILE");
  app.add_option("--print-man", manual, "Print a manual page: cuzkd or cuzkd.toml")
      ->type_name("PAGE")
      ->check(CLI::IsMember({"cuzkd", "cuzkd.toml"}));
  std::map<std::string, std::string> values;
  for (const SettingRow& row : SettingTable()) {
    app.add_option(StrCat("--", row.name), values[std::string(row.name)], std::string(row.description))
        ->take_last()
        ->group("Settings")
        ->type_name(std::string(SettingTypeName(row.type)));
  }
  try {  // the parser's only way to report
    app.parse(ParserWords(argc, argv));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(DaemonExit::kUsage);
  }
  if (!convert.empty()) return PrintConverted(convert);
  if (!manual.empty()) {
    std::fputs((manual == "cuzkd" ? DaemonManual(app) : SettingsManual()).c_str(), stdout);
    return 0;
  }
  for (const SettingRow& row : SettingTable()) {
    std::string name(row.name);
    if (app.count("--" + name) > 0) line.sources.flags.emplace_back(name, values[name]);
  }
  line.sources.file = file;
  line.sources.file_may_be_missing = config->count() == 0;
  if (print_defaults) line.task = Task::kPrintDefaults;
  if (print_config) line.task = Task::kPrintConfig;
  if (check_config) line.task = Task::kCheckConfig;
  return line;
}

}  // namespace cuzk::daemon
