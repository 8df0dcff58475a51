#pragma once
// The one table of settings and its reader. Everything else about settings (the example file, --print-config, the
// manual) is printed from the table. A row must do something: a setting without effect is not listed.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"

namespace cuzk {

enum class SettingType {
  kText,
  kBool,      ///< true, false
  kInteger,   ///< not negative
  kSize,      ///< "256MiB": a whole number and B, KiB, MiB, GiB or TiB
  kDuration,  ///< "30s": a whole number and ms, s, m or h
  kMode,      ///< "0660": permission bits in octal
  kList,      ///< texts: an array in the file, separated by commas elsewhere
};
std::string_view SettingTypeName(SettingType type);

struct SettingRow {
  std::string_view name;  ///< "section.key", or "key" before any section
  SettingType type;
  std::string_view default_value;  ///< as an environment variable would hold it
  std::string_view choices;        ///< "info|debug": the texts allowed; for other types, texts allowed besides values
  std::string_view unit;           ///< of an integer; empty: a plain number
  std::string_view variable;       ///< the ecosystem's variable, read where ours is not set; empty: none
  bool reloadable;                 ///< takes effect on SIGHUP
  std::string_view description;    ///< sentences
  std::string_view range = {};     ///< "1..8", "1s..480h": the least and the greatest value; empty: any
};

/// All rows, those of a section together.
std::span<const SettingRow> SettingTable();
/// "CUZK_PARAMS_DIRECTORY" for "params.directory".
std::string EnvironmentName(std::string_view setting);

/// InvalidArgument naming what is wrong with the text; `256 gib`, `256`, `1.5GiB` and values beyond 64 bits are.
StatusOr<uint64_t> ParseSize(std::string_view text);
StatusOr<std::chrono::milliseconds> ParseDuration(std::string_view text);
/// The largest unit that divides: "256MiB".
std::string FormatSize(uint64_t bytes);

/// Where settings come from, strongest first: flags, our variables, the ecosystem's, the file, the table's defaults.
struct SettingSources {
  std::vector<std::pair<std::string, std::string>> flags;  ///< name and value
  std::map<std::string, std::string> environment;
  std::optional<std::filesystem::path> file;
  bool file_may_be_missing = false;
};

/// The environment of this process.
std::map<std::string, std::string> ProcessEnvironment();

/// Names of settings whose value differs from the running one.
struct ReloadChanges {
  std::vector<std::string> applied, need_restart;
};

/// One checked value for each row. Its const functions may be called by any thread.
class Settings {
 public:
  /// InvalidArgument with file and line, variable or flag: an unknown name, a malformed value, a variable that begins
  /// with CUZK_ and is no setting (those of builds and tests excepted). NotFound: the file is missing and may not be.
  static StatusOr<Settings> Load(const SettingSources& sources);
  static Settings Defaults();

  // Each ends the process when the row has another name or type: that is a mistake of the caller.
  std::string Text(std::string_view name) const;
  bool Bool(std::string_view name) const;
  uint64_t Integer(std::string_view name) const;
  std::chrono::milliseconds Duration(std::string_view name) const;
  unsigned Mode(std::string_view name) const;
  std::vector<std::string> List(std::string_view name) const;
  /// Nothing when the value is one of the row's choices ("auto").
  std::optional<uint64_t> Size(std::string_view name) const;

  /// The value as the file would hold it, quotes included, and where it came from.
  std::string FileText(const SettingRow& row) const;
  const std::string& Origin(std::string_view name) const;

  /// What is in force after the settings were read again: the reloadable ones of `next`, the others as they are here.
  Settings Reloaded(const Settings& next, ReloadChanges& changes) const;
  /// One value, with its origin, as it is in `other`.
  void Take(const Settings& other, std::string_view name);

 private:
  struct Value {
    std::string text;
    std::string origin;
  };
  Settings() = default;
  const Value& Find(std::string_view name, SettingType type) const;
  std::map<std::string, Value, std::less<>> values_;
};

/// The example file: every row with its description, commented out at its default.
std::string PrintDefaults();
/// The effective settings as a file that would give them, each with its origin in a comment.
std::string PrintConfig(const Settings& settings);

}  // namespace cuzk
