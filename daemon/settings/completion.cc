#include "daemon/settings/completion.h"

#include <CLI/CLI.hpp>

#include "core/base/settings/settings.h"
#include "core/base/settings/settings_text.h"
#include "core/filecoin/types/registry.h"

namespace cuzk::daemon {
namespace {

/// What may follow a sequence of subcommands: their names and options as words, with texts; the words of positional
/// arguments; and the options that take a value.
struct Level {
  std::string path;  ///< "params make"; empty: the program
  std::vector<std::pair<std::string, std::string>> words;
  std::vector<std::string> arguments;
  bool files = false;  ///< a positional argument is a file
};
struct Value {
  std::vector<std::string> words;
  bool files = false;
};

std::vector<std::string> Split(std::string_view text, char mark) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = text.find(mark);
    parts.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return parts;
}

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

Value ValueOf(const CLI::Option& option, const std::string& name, const CompletionValues& values) {
  auto listed = values.find(name);
  if (listed != values.end()) return {listed->second, listed->second.empty()};
  return {{}, option.get_type_name() == "FILE" || name == "FILE"};
}

class Walk {
 public:
  Walk(const CLI::App& app, const CompletionValues& values) : values_(values) { Visit(app, ""); }

  std::vector<Level> levels;
  std::map<std::string, Value> options;  ///< by name, those that take a value

 private:
  void Visit(const CLI::App& app, const std::string& path) {
    Level level{.path = path};
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App* s) { return !s->get_group().empty(); })) {
      level.words.emplace_back(sub->get_name(), sub->get_description());
    }
    for (const CLI::Option* option : app.get_options()) Add(*option, level);
    levels.push_back(std::move(level));
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App* s) { return !s->get_group().empty(); })) {
      Visit(*sub, path.empty() ? sub->get_name() : StrCat(path, " ", sub->get_name()));
    }
  }

  void Add(const CLI::Option& option, Level& level) {
    if (option.get_lnames().empty() && option.get_snames().empty()) {  // positional
      const Value value = ValueOf(option, option.get_name(), values_);
      level.arguments.insert(level.arguments.end(), value.words.begin(), value.words.end());
      level.files = level.files || value.files;
      return;
    }
    for (const std::string& name : option.get_lnames()) {
      const std::string word = StrCat("--", name);
      level.words.emplace_back(word, option.get_description());
      if (TakesValue(option)) options[word] = ValueOf(option, word, values_);
    }
  }

  const CompletionValues& values_;
};

std::string Joined(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += StrCat(list.empty() ? "" : " ", word);
  return list;
}

// Every name of a subcommand, to tell the path from other words.
std::string PathCases(const std::vector<Level>& levels) {
  std::string cases;
  for (const Level& level : levels) {
    if (!level.path.empty()) cases += StrCat(cases.empty() ? "" : "|", "\"", level.path, "\"");
  }
  return cases.empty() ? "\"\"" : cases;
}

/// The part that both shells have: `path` becomes the subcommands among the words before the cursor, the first of which
/// is `words[first]`; the value of an option is no subcommand.
std::string PathLoop(const Walk& walk, std::string_view words, int first, std::string_view end) {
  std::string takes;
  for (const auto& [name, value] : walk.options) takes += StrCat(takes.empty() ? "" : "|", name);
  std::string out = StrCat("  local i path=\"\" word\n  for ((i = ", first, "; i < ", end, "; i++)); do\n    word=\"${",
                           words, "[i]}\"\n    case \"$word\" in\n");
  if (!takes.empty()) out += StrCat("      ", takes, ") ((i++)); continue ;;\n");
  out += StrCat("      -*) continue ;;\n    esac\n    case \"${path:+$path }$word\" in\n      ", PathCases(walk.levels),
                ") path=\"${path:+$path }$word\" ;;\n    esac\n  done\n");
  return out;
}

std::string Bash(const std::string& program, const Walk& walk) {
  std::string out =
      StrCat("# bash completion for ", program, "\n_", program, "() {\n  local current=\"${COMP_WORDS[COMP_CWORD]}\"",
             " previous=\"${COMP_WORDS[COMP_CWORD - 1]}\"\n  COMPREPLY=()\n");
  out += PathLoop(walk, "COMP_WORDS", 1, "COMP_CWORD");
  out += "  case \"$previous\" in\n";
  for (const auto& [name, value] : walk.options) {
    out += StrCat("    ", name, ")");
    if (value.files) out += " COMPREPLY=($(compgen -f -- \"$current\"))";
    if (!value.words.empty()) out += StrCat(" COMPREPLY=($(compgen -W \"", Joined(value.words), "\" -- \"$current\"))");
    out += value.files || !value.words.empty() ? "; return ;;\n" : " return ;;\n";
  }
  out += "  esac\n  local words=\"\" files=\"\"\n  case \"$path\" in\n";
  for (const Level& level : walk.levels) {
    std::vector<std::string> words = level.arguments;
    for (const auto& [word, text] : level.words) words.push_back(word);
    out += StrCat("    \"", level.path, "\") words=\"", Joined(words), "\"", level.files ? " files=yes" : "", " ;;\n");
  }
  out +=
      "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  [[ -n \"$files\" ]] && COMPREPLY+=($(compgen -f -- \"$current\"))\n}\n";
  return StrCat(out, "complete -o filenames -F _", program, " ", program, "\n");
}

// A word and its text as zsh's _describe takes them, in single quotes.
std::string Described(const std::string& word, const std::string& text) {
  std::string out;
  for (char c : word) out += c == ':' ? std::string("\\:") : std::string(1, c);
  out += ':';
  for (char c : text) out += c == '\'' ? std::string("'\\''") : c == '\n' ? std::string(" ") : std::string(1, c);
  return StrCat("'", out, "'");
}

std::string Zsh(const std::string& program, const Walk& walk) {
  std::string out = StrCat("#compdef ", program, "\n# zsh completion for ", program, "\n_", program, "() {\n",
                           "  local previous=\"${words[CURRENT - 1]}\"\n");
  out += PathLoop(walk, "words", 2, "CURRENT");
  out += "  case \"$previous\" in\n";
  for (const auto& [name, value] : walk.options) {
    out += StrCat("    ", name, ")");
    if (value.files) out += " _files";
    if (!value.words.empty()) out += StrCat(" compadd -- ", Joined(value.words));
    out += value.files || !value.words.empty() ? "; return ;;\n" : " return ;;\n";
  }
  out += "  esac\n  local -a choices\n  case \"$path\" in\n";
  for (const Level& level : walk.levels) {
    out += StrCat("    \"", level.path, "\") choices=(\n");
    for (const auto& [word, text] : level.words) out += StrCat("      ", Described(word, text), "\n");
    out += "    )";
    if (!level.arguments.empty()) out += StrCat("; compadd -- ", Joined(level.arguments));
    if (level.files) out += "; _files";
    out += " ;;\n";
  }
  return StrCat(out, "  esac\n  _describe '", program, "' choices\n}\n_", program, " \"$@\"\n");
}

}  // namespace

CompletionValues SettingValues() {
  CompletionValues values{{"--config", {}}, {"--convert-settings", {}}, {"--print-man", {"cuzkd", "cuzkd.toml"}}};
  values["--print-completion"] = {"bash", "zsh"};
  for (const SettingRow& row : SettingTable()) {
    const std::string name = StrCat("--", row.name);
    if (row.type == SettingType::kBool) values[name] = {"true", "false"};
    if (!row.choices.empty()) values[name] = Split(row.choices, '|');
  }
  for (const filecoin::Circuit& circuit : filecoin::Circuits()) values["--params.preload"].push_back(circuit.id);
  for (const char* file :
       {"--params.directory", "--jobs.state_directory", "--tls.certificate", "--tls.key", "--tls.client_ca"}) {
    values[file] = {};
  }
  return values;
}

CompletionValues ControlValues() {
  CompletionValues values;
  for (const char* file : {"--config", "--request", "--out", "--proof", "--vk", "--expect", "--toxic-waste"})
    values[file] = {};
  values["--print-completion"] = {"bash", "zsh"};
  values["--state"] = {"queued", "running", "completed", "failed", "cancelled"};
  for (const filecoin::KindRow& kind : filecoin::Kinds()) values["--kind"].emplace_back(kind.name);
  for (const filecoin::SizeRow& size : filecoin::Sizes()) values["--size"].emplace_back(size.name);
  for (const filecoin::Circuit& circuit : filecoin::Circuits()) {
    values["CIRCUIT"].push_back(circuit.id);
    values["--circuit"].push_back(circuit.id);
  }
  return values;
}

std::string CompletionScript(const CLI::App& app, std::string_view shell, const CompletionValues& values) {
  const Walk walk(app, values);
  return shell == "zsh" ? Zsh(app.get_name(), walk) : Bash(app.get_name(), walk);
}

}  // namespace cuzk::daemon
