#include "core/base/settings/settings.h"

#include <unistd.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cctype>

#include "core/base/check.h"
#include "core/base/file.h"
#include "core/base/settings/nearest_name.h"
#include "core/base/settings/settings_text.h"

namespace cuzk {
namespace {

// Variables with our prefix that belong to builds and tests.
bool BelongsElsewhere(std::string_view variable) {
  return variable == "CUZK_FIXTURES" || variable == "CUZK_CPU_ARITHMETIC" || variable.starts_with("CUZK_REQUIRE_");
}

const SettingRow* FindRow(std::string_view name) {
  for (const SettingRow& row : SettingTable()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::vector<std::string> NamesOfSettings() {
  std::vector<std::string> names;
  for (const SettingRow& row : SettingTable()) names.emplace_back(row.name);
  return names;
}

struct Assignment {
  const SettingRow* row;
  std::string text;
  std::string origin;
};

// The text of a TOML value if its type is the row's, else nothing.
std::optional<std::string> TextOf(const SettingRow& row, const toml::node& node) {
  switch (row.type) {
    case SettingType::kBool:
      if (const auto* v = node.as_boolean()) return v->get() ? "true" : "false";
      return std::nullopt;
    case SettingType::kInteger:
      if (const auto* v = node.as_integer(); v && v->get() >= 0) return StrCat(v->get());
      return std::nullopt;
    case SettingType::kList: {
      const toml::array* items = node.as_array();
      if (!items) return std::nullopt;
      std::string joined;
      for (const toml::node& item : *items) {
        const auto* text = item.as_string();
        if (!text || text->get().find(',') != std::string::npos) return std::nullopt;
        joined += StrCat(joined.empty() ? "" : ",", text->get());
      }
      return joined;
    }
    default:
      if (const auto* v = node.as_string()) return v->get();
      return std::nullopt;
  }
}

Status ReadTable(const toml::table& table, const std::string& prefix, const std::string& path,
                 std::vector<Assignment>& out) {
  for (auto&& [key, node] : table) {
    std::string name = prefix + std::string(key.str());
    std::string place = StrCat(path, ":", key.source().begin.line);
    if (const SettingRow* row = FindRow(name)) {
      std::optional<std::string> text = TextOf(*row, node);
      if (!text) {
        return absl::InvalidArgumentError(StrCat(place, ": ", name, ": expected a ", SettingTypeName(row->type),
                                                 row->type == SettingType::kList ? " without commas" : ""));
      }
      CUZK_RETURN_IF_ERROR(Annotate(CheckSettingText(*row, *text), place));
      out.push_back({row, *std::move(text), StrCat("file ", place)});
    } else if (const toml::table* inner = node.as_table()) {
      bool section = prefix.empty() && std::any_of(SettingTable().begin(), SettingTable().end(),
                                                   [&](const auto& r) { return r.name.starts_with(name + "."); });
      if (!section) return absl::InvalidArgumentError(StrCat(place, ": there is no section \"", name, "\""));
      CUZK_RETURN_IF_ERROR(ReadTable(*inner, name + ".", path, out));
    } else {
      return absl::InvalidArgumentError(
          StrCat(place, ": there is no setting \"", name, "\"", DidYouMean(name, NamesOfSettings())));
    }
  }
  return absl::OkStatus();
}

Status ReadSettingsFile(const std::filesystem::path& path, std::vector<Assignment>& out) {
  std::error_code error;
  if (std::filesystem::canonical(path, error) == "/dev/null") return absl::OkStatus();  // no file is wanted
  CUZK_ASSIGN_OR_RETURN(std::string content, ReadFile(path, uint64_t{1} << 20));
  toml::table table;
  try {  // the parser's only way to report
    table = toml::parse(content, path.string());
  } catch (const toml::parse_error& error) {
    return absl::InvalidArgumentError(
        StrCat(path.string(), ":", error.source().begin.line, ": ", std::string(error.description())));
  }
  return ReadTable(table, "", path.string(), out);
}

Status ReadEnvironment(const std::map<std::string, std::string>& environment, std::vector<Assignment>& ecosystem,
                       std::vector<Assignment>& ours) {
  for (const auto& [variable, text] : environment) {
    const SettingRow* found = nullptr;
    for (const SettingRow& row : SettingTable()) {
      if (!row.variable.empty() && row.variable == variable) {
        std::string meant = EcosystemText(variable, text);
        CUZK_RETURN_IF_ERROR(Annotate(CheckSettingText(row, meant), variable));
        ecosystem.push_back({&row, std::move(meant), StrCat("environment ", variable)});
      }
      if (EnvironmentName(row.name) == variable) found = &row;
    }
    if (found) {
      CUZK_RETURN_IF_ERROR(Annotate(CheckSettingText(*found, text), variable));
      ours.push_back({found, text, StrCat("environment ", variable)});
    } else if (variable.starts_with("CUZK_") && !BelongsElsewhere(variable)) {
      if (variable == "CUZK_GPU_THREADS") {
        return absl::InvalidArgumentError(
            "environment variable CUZK_GPU_THREADS is not a setting: it belongs to the daemon shipped with Curio. "
            "Unset it; the setting here is synthesis.threads (CUZK_SYNTHESIS_THREADS)");
      }
      std::vector<std::string> names;
      for (const SettingRow& row : SettingTable()) names.push_back(EnvironmentName(row.name));
      return absl::InvalidArgumentError(
          StrCat("environment variable ", variable, " is not a setting", DidYouMean(variable, names)));
    }
  }
  return absl::OkStatus();
}

std::string FileForm(const SettingRow& row, std::string_view text) {
  if (row.type == SettingType::kBool || row.type == SettingType::kInteger) return std::string(text);
  if (row.type != SettingType::kList) return QuoteToml(text);
  std::string list = "[";
  for (const std::string& part : SplitList(text)) list += StrCat(list.size() > 1 ? ", " : "", QuoteToml(part));
  return StrCat(list, "]");
}

}  // namespace

std::string EnvironmentName(std::string_view setting) {
  std::string name = "CUZK_";
  for (char c : setting) name += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::map<std::string, std::string> ProcessEnvironment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry; ++entry) {
    std::string_view text = *entry;
    size_t equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Settings Settings::Defaults() {
  Settings settings;
  for (const SettingRow& row : SettingTable()) {
    CUZK_CHECK(CheckSettingText(row, row.default_value).ok());
    settings.values_[std::string(row.name)] = {std::string(row.default_value), "default"};
  }
  return settings;
}

StatusOr<Settings> Settings::Load(const SettingSources& sources) {
  std::vector<Assignment> assignments, ours, flags;  // weakest first
  if (sources.file) {
    Status status = ReadSettingsFile(*sources.file, assignments);
    if (!(absl::IsNotFound(status) && sources.file_may_be_missing)) CUZK_RETURN_IF_ERROR(status);
  }
  CUZK_RETURN_IF_ERROR(ReadEnvironment(sources.environment, assignments, ours));
  for (const auto& [name, text] : sources.flags) {
    const SettingRow* row = FindRow(name);
    if (!row) return absl::InvalidArgumentError(StrCat("--", name, ": there is no such setting"));
    CUZK_RETURN_IF_ERROR(Annotate(CheckSettingText(*row, text), StrCat("--", name)));
    flags.push_back({row, text, StrCat("flag --", name)});
  }
  Settings settings = Defaults();
  for (auto* strength : {&assignments, &ours, &flags}) {
    for (Assignment& a : *strength)
      settings.values_[std::string(a.row->name)] = {std::move(a.text), std::move(a.origin)};
  }
  return settings;
}

const Settings::Value& Settings::Find(std::string_view name, SettingType type) const {
  const SettingRow* row = FindRow(name);
  CUZK_CHECK(row != nullptr && row->type == type);
  return values_.find(name)->second;
}

std::string Settings::Text(std::string_view name) const { return Find(name, SettingType::kText).text; }

bool Settings::Bool(std::string_view name) const { return Find(name, SettingType::kBool).text == "true"; }

uint64_t Settings::Integer(std::string_view name) const { return std::stoull(Find(name, SettingType::kInteger).text); }

std::chrono::milliseconds Settings::Duration(std::string_view name) const {
  return *ParseDuration(Find(name, SettingType::kDuration).text);
}

unsigned Settings::Mode(std::string_view name) const {
  return static_cast<unsigned>(std::stoul(Find(name, SettingType::kMode).text, nullptr, 8));
}

std::vector<std::string> Settings::List(std::string_view name) const {
  return SplitList(Find(name, SettingType::kList).text);
}

std::optional<uint64_t> Settings::Size(std::string_view name) const {
  StatusOr<uint64_t> bytes = ParseSize(Find(name, SettingType::kSize).text);
  return bytes.ok() ? std::optional<uint64_t>(*bytes) : std::nullopt;
}

std::string Settings::FileText(const SettingRow& row) const {
  return FileForm(row, values_.find(row.name)->second.text);
}

const std::string& Settings::Origin(std::string_view name) const {
  auto found = values_.find(name);
  CUZK_CHECK(found != values_.end());
  return found->second.origin;
}

Settings Settings::Reloaded(const Settings& next, ReloadChanges& changes) const {
  Settings out = *this;
  for (const SettingRow& row : SettingTable()) {
    const Value& read = next.values_.find(row.name)->second;
    Value& running = out.values_.find(row.name)->second;
    bool changed = read.text != running.text;
    if (changed) (row.reloadable ? changes.applied : changes.need_restart).emplace_back(row.name);
    if (row.reloadable) running = read;
  }
  return out;
}

void Settings::Take(const Settings& other, std::string_view name) {
  CUZK_CHECK(FindRow(name) != nullptr);
  values_.find(name)->second = other.values_.find(name)->second;
}

std::string PrintDefaults() {
  std::string out = TomlComment(
      "Settings of cuzkd, as printed by `cuzkd --print-defaults`. Every line shows the default. A flag (--section.key "
      "VALUE) overrides an environment variable (CUZK_SECTION_KEY), which overrides this file.");
  std::string_view section;
  for (const SettingRow& row : SettingTable()) {
    if (SectionOf(row.name) != section) {
      section = SectionOf(row.name);
      out += StrCat("\n[", section, "]\n");
    }
    out += StrCat("\n", TomlComment(row.description));
    out += TomlComment(StrCat(ValueInWords(row), row.reloadable ? "; takes effect on SIGHUP" : "",
                              row.variable.empty() ? "" : "; also read from ", row.variable, "."));
    out += StrCat("#", KeyOf(row.name), " = ", FileForm(row, row.default_value), "\n");
  }
  return out;
}

std::string PrintConfig(const Settings& settings) {
  std::string out;
  std::string_view section;
  for (const SettingRow& row : SettingTable()) {
    if (SectionOf(row.name) != section) {
      section = SectionOf(row.name);
      out += StrCat("\n[", section, "]\n");
    }
    out += StrCat(KeyOf(row.name), " = ", settings.FileText(row), "  # ", settings.Origin(row.name), "\n");
  }
  return out;
}

}  // namespace cuzk
