#pragma once
// The flags of cuzkd: one per setting, and a few that print something and end.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/settings/settings.h"

namespace cuzk::daemon {

enum class Task { kServe, kPrintDefaults, kPrintConfig, kCheckConfig };

struct CommandLine {
  Task task = Task::kServe;
  SettingSources sources;  ///< file and flags; the environment is the caller's
};

/// The words after the program's name as the parser takes them, last first. "--name=" is the flag with an empty value:
/// the parser alone would take the next word for it.
std::vector<std::string> ParserWords(int argc, char** argv);

/// The command line, or the exit code after something was printed: help, a manual page, a usage error.
std::variant<CommandLine, int> ParseCommandLine(int argc, char** argv);

}  // namespace cuzk::daemon
