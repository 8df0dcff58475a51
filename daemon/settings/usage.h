#pragma once
// Mistakes on a command line, in words that name the nearest right one.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cuzk::daemon {

/// The subcommands that users are told of, in their order.
std::vector<const CLI::App*> SubcommandsOf(const CLI::App& app);

/// "there is no subcommand \"statsu\"; did you mean \"status\"?"
std::string NoSubcommand(const CLI::App& app, const std::string& word);

/// After the parser refused the words: what the first word is that it did not take, such as "there is no option
/// \"--jsn\"; did you mean \"--json\"?". Empty if it took all.
std::string FirstUnknownWord(const CLI::App& program);

}  // namespace cuzk::daemon
