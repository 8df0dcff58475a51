#include "daemon/cuzkd/command_line.h"

#include <CLI/CLI.hpp>
#include <string>

#include "daemon/exit_code.h"

namespace cuzk::daemon {

std::variant<CommandLine, int> ParseCommandLine(int argc, char** argv) {
  CommandLine line;
  std::string file = "/etc/cuzkd/cuzkd.toml";
  bool print_defaults = false, print_config = false, check_config = false;
  CLI::App app("Filecoin Groth16 proving daemon. Serves cuzk.v1.ProvingEngine and cuzkd.v1.Operator.", "cuzkd");
  app.set_version_flag("--version", StrCat("cuzkd ", CUZK_VERSION, " (cuda ", CUZK_CUDA_VERSION, ")"));
  CLI::Option* config = app.add_option("--config", file, "Settings file")->capture_default_str();
  app.add_flag("--print-defaults", print_defaults, "Print the example settings file");
  app.add_flag("--print-config", print_config, "Print the effective settings and where each came from");
  app.add_flag("--check-config", check_config,
               "Read and check the settings, serve nothing; exit code 78 if they are wrong");
  std::map<std::string, std::string> values;
  for (const SettingRow& row : SettingTable()) {
    app.add_option(StrCat("--", row.name), values[std::string(row.name)], std::string(row.description))
        ->take_last()
        ->group("Settings")
        ->type_name(std::string(SettingTypeName(row.type)));
  }
  try {  // the parser's only way to report
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(DaemonExit::kUsage);
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
