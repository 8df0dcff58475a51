#pragma once
// The manual pages, printed from the tables of settings, exit codes and command-line options.

#include <string>

namespace CLI {
class App;
}

namespace cuzk::daemon {

/// cuzkd(8); `app` holds the options.
std::string DaemonManual(const CLI::App& app);
/// cuzkctl(1); `app` holds the options and the subcommands.
std::string ControlManual(const CLI::App& app);
/// cuzkd.toml(5).
std::string SettingsManual();

}  // namespace cuzk::daemon
