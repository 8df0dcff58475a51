#pragma once
// Shell completion, printed from the options and subcommands of a program.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace cuzk::daemon {

/// Words that may stand for the value of an option ("--kind") or for a positional argument ("CIRCUIT"), by its name. An
/// option whose name or type ends with FILE, or that is listed with no words, completes file names.
using CompletionValues = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Values of the options that are settings: their choices, and the circuits for params.preload.
CompletionValues SettingValues();
/// Values of --kind, --size and CIRCUIT, and the options that take files.
CompletionValues ControlValues();

/// A script for bash or zsh (`shell`) that completes the program's subcommands, options and values.
std::string CompletionScript(const CLI::App& app, std::string_view shell, const CompletionValues& values);

}  // namespace cuzk::daemon
