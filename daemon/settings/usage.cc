#include "daemon/settings/usage.h"

#include <CLI/CLI.hpp>

#include "core/base/settings/nearest_name.h"
#include "core/base/text.h"

namespace cuzk::daemon {
namespace {

std::vector<std::string> NamesOf(const std::vector<const CLI::App*>& apps) {
  std::vector<std::string> names;
  for (const CLI::App* app : apps) names.push_back(app->get_name());
  return names;
}

void AddOptionNames(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(StrCat("--", name));
  }
}

}  // namespace

std::vector<const CLI::App*> SubcommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

std::string NoSubcommand(const CLI::App& app, const std::string& word) {
  return StrCat("there is no subcommand \"", word, "\"", DidYouMean(word, NamesOf(SubcommandsOf(app))));
}

std::string FirstUnknownWord(const CLI::App& program) {
  // The subcommand that was chosen last, and the options up to it.
  const CLI::App* last = &program;
  std::vector<std::string> options;
  AddOptionNames(program, options);
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const CLI::App* sub : SubcommandsOf(*last)) {
      if (!sub->parsed()) continue;
      last = sub;
      AddOptionNames(*last, options);
      deeper = true;
      break;
    }
  }
  for (const std::string& word : program.remaining(true)) {
    if (word.empty()) continue;
    if (word.starts_with('-')) {
      const std::string name = word.substr(0, word.find('='));
      return StrCat("there is no option \"", name, "\"", DidYouMean(name, options));
    }
    if (!SubcommandsOf(*last).empty()) return NoSubcommand(*last, word);
    return StrCat("unexpected argument \"", word, "\"");
  }
  return "";
}

}  // namespace cuzk::daemon
