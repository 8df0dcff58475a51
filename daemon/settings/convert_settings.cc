#include "daemon/settings/convert_settings.h"

#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/settings/settings_text.h"
#include "core/filecoin/types/registry.h"
#include "daemon/sockets/address.h"

namespace cuzk::daemon {
namespace {

using Fate = ConvertedKey::Fate;

// What a value of the incumbent's gives: the text of our setting, and what else is to be said. An error: the value was
// not understood.
struct Outcome {
  std::optional<std::string> value;
  std::string remark;
};
using Reader = StatusOr<Outcome> (*)(const toml::node& node);

struct Row {
  std::string_view key;
  Fate fate;
  std::string_view ours;  // settings of ours
  std::string_view why;
  Reader read;  // null: the value does not matter
};

StatusOr<std::string> Text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  return absl::InvalidArgumentError("is not a text");
}

StatusOr<Outcome> ReadText(const toml::node& node) {
  CUZK_ASSIGN_OR_RETURN(std::string text, Text(node));
  return Outcome{.value = std::move(text)};
}

StatusOr<Outcome> ReadAddress(const toml::node& node) {
  CUZK_ASSIGN_OR_RETURN(std::string text, Text(node));
  CUZK_ASSIGN_OR_RETURN(Address address, ParseAddress(text));
  Outcome outcome{.value = text};
  if (!address.IsLocal()) {
    outcome.remark =
        "Other machines can reach this address and the daemon shipped with Curio never encrypts, so "
        "grpc.allow_plaintext is true.";
  } else if (address.kind == Address::Kind::kUnixPath) {
    outcome.remark = "The unit allows sockets only in /run/cuzkd: prefer the default and give Curio that address.";
  }
  return outcome;
}

StatusOr<Outcome> ReadHttp(const toml::node& node) {
  CUZK_ASSIGN_OR_RETURN(std::string text, Text(node));
  if (text.empty()) return Outcome{.value = ""};
  CUZK_ASSIGN_OR_RETURN(Address address, ParseAddress(text));
  if (address.kind != Address::Kind::kTcp) return absl::InvalidArgumentError("is not HOST:PORT");
  Outcome outcome{.value = text};
  if (!address.IsLocal()) outcome.remark = "Other machines can reach this address, so http.allow_remote is true.";
  return outcome;
}

StatusOr<Outcome> ReadBudget(const toml::node& node) {
  CUZK_ASSIGN_OR_RETURN(std::string text, Text(node));
  if (text == "auto") return Outcome{.value = "auto"};
  StatusOr<uint64_t> bytes = ParseSize(text);
  if (!bytes.ok())
    return absl::InvalidArgumentError(
        StrCat(bytes.status().message(), "; the daemon shipped with Curio assumes 50GiB then"));
  return Outcome{.value = FormatSize(*bytes)};
}

StatusOr<Outcome> ReadCircuits(const toml::node& node) {
  const toml::array* items = node.as_array();
  if (!items) return absl::InvalidArgumentError("is not a list");
  std::string known, unknown;
  for (const toml::node& item : *items) {
    CUZK_ASSIGN_OR_RETURN(std::string id, Text(item));
    std::string& list = filecoin::FindCircuit(id) ? known : unknown;
    list += StrCat(list.empty() ? "" : ",", id);
  }
  Outcome outcome{.value = known};
  if (!unknown.empty()) outcome.remark = StrCat("There is no circuit ", unknown, ", so it was left out.");
  return outcome;
}

StatusOr<Outcome> ReadCount(const toml::node& node) {
  const auto* number = node.as_integer();
  if (!number || number->get() < 0) return absl::InvalidArgumentError("is not a whole number");
  return Outcome{.value = StrCat(number->get())};
}

StatusOr<Outcome> ReadWorkers(const toml::node& node) {
  CUZK_ASSIGN_OR_RETURN(Outcome outcome, ReadCount(node));
  int64_t number = node.as_integer()->get(), workers = std::clamp<int64_t>(number, 1, 8);
  outcome.value = StrCat(workers);
  if (number != workers) outcome.remark = StrCat(number, " is not from 1 to 8, so it became ", workers, ".");
  return outcome;
}

StatusOr<Outcome> ReadThreads(const toml::node& node) {
  CUZK_ASSIGN_OR_RETURN(Outcome outcome, ReadCount(node));
  constexpr int64_t kMost = 4096;
  if (node.as_integer()->get() > kMost)
    outcome = {.value = "0", .remark = "The value is too large, so it became 0: one thread for each core."};
  return outcome;
}

StatusOr<Outcome> ReadDevices(const toml::node& node) {
  const toml::array* items = node.as_array();
  if (!items) return absl::InvalidArgumentError("is not a list");
  if (items->empty()) return Outcome{};
  std::string list;
  for (const toml::node& item : *items) {
    CUZK_ASSIGN_OR_RETURN(Outcome ordinal, ReadCount(item));
    list += StrCat(list.empty() ? "" : ",", *ordinal.value);
  }
  return Outcome{.remark = StrCat("Put Environment=CUDA_VISIBLE_DEVICES=", list, " into the [Service] section of ",
                                  "`systemctl edit cuzkd`.")};
}

StatusOr<Outcome> ReadLevel(const toml::node& node) {
  CUZK_ASSIGN_OR_RETURN(std::string level, Text(node));
  if (level == "trace") return Outcome{.value = "debug", .remark = "The level trace is called debug here."};
  if (level == "warn") return Outcome{.value = "warning"};
  for (const char* same : {"debug", "info", "error"}) {
    if (level == same) return Outcome{.value = level};
  }
  return absl::InvalidArgumentError(StrCat("\"", level, "\" is not a level; filters by module have no counterpart"));
}

StatusOr<Outcome> ReadFormat(const toml::node& node) {
  CUZK_ASSIGN_OR_RETURN(std::string format, Text(node));
  return Outcome{.value = format == "json" ? "json" : "text"};
}

// The one table: what becomes of each key of the incumbent.
constexpr Row kRows[] = {
    {"daemon.listen", Fate::kCarried, "listen", "", ReadAddress},
    {"daemon.status_listen", Fate::kCarried, "http.listen", "", ReadHttp},
    {"srs.param_cache", Fate::kCarried, "params.directory", "", ReadText},
    {"srs.preload", Fate::kCarried, "params.preload",
     "The daemon shipped with Curio ignores it; here, the start waits until these circuits are loaded.", ReadCircuits},
    {"memory.total_budget", Fate::kCarried, "memory.budget",
     "Here, the budget counts buffers and incoming requests too.", ReadBudget},
    {"memory.safety_margin", Fate::kReplaced, "memory.budget",
     "The value auto leaves a reserve; to choose another reserve, set the budget to a size.", nullptr},
    {"memory.eviction_min_idle", Fate::kReplaced, "params.evict_idle",
     "Idle parameters stay loaded until their memory is needed; the least recently used are unloaded first.", nullptr},
    {"memory.pinned_budget", Fate::kReplaced, "memory.budget",
     "One budget counts everything. The daemon shipped with Curio ignores it.", nullptr},
    {"memory.working_memory_budget", Fate::kReplaced, "memory.budget",
     "One budget counts everything. The daemon shipped with Curio ignores it.", nullptr},
    {"gpus.devices", Fate::kReplaced, "devices.use", "All GPUs that are visible to the process are used.", ReadDevices},
    {"gpus.gpu_threads", Fate::kMeaningless, "", "The GPU's work needs no CPU threads.", nullptr},
    {"gpus.gpu_workers_per_device", Fate::kCarried, "devices.workers", "", ReadWorkers},
    {"scheduler.max_batch_size", Fate::kMeaningless, "",
     "Proofs are not batched, because partitions keep the device busy.", nullptr},
    {"scheduler.max_batch_wait_ms", Fate::kMeaningless, "", "Nothing waits for a batch.", nullptr},
    {"scheduler.sort_by_type", Fate::kMeaningless, "",
     "Priority and deadline decide the order, and parameters of several circuits stay loaded.", nullptr},
    {"synthesis.threads", Fate::kCarried, "synthesis.threads", "", ReadThreads},
    {"synthesis.partition_workers", Fate::kReplaced, "synthesis.partitions",
     "The default is kept, because a witness takes far less time and memory here. The daemon shipped with Curio "
     "ignores it.",
     nullptr},
    {"pipeline.enabled", Fate::kMeaningless, "", "Witnesses are always written while the device computes.", nullptr},
    {"pipeline.synthesis_lookahead", Fate::kMeaningless, "", "The wait queue of a device has a fixed length.", nullptr},
    {"pipeline.synthesis_concurrency", Fate::kReplaced, "synthesis.partitions",
     "The default is kept, because a witness takes far less time and memory here.", nullptr},
    {"logging.level", Fate::kCarried, "log.level", "", ReadLevel},
    {"logging.format", Fate::kCarried, "log.format", "", ReadFormat},
};

struct Collected {
  std::vector<std::pair<unsigned, ConvertedKey>> keys;  // with their lines
  std::vector<std::pair<std::string, std::string>> settings;
};

std::string FateName(Fate fate, std::string_view ours) {
  switch (fate) {
    case Fate::kCarried:
      return StrCat("carried over as ", ours, ".");
    case Fate::kReplaced:
      return StrCat("replaced by ", ours, ".");
    case Fate::kMeaningless:
      return "has no meaning here.";
    case Fate::kUnknown:
      return "UNKNOWN, not carried over: the daemon shipped with Curio has no such key.";
    case Fate::kNotUnderstood:
      return StrCat("NOT UNDERSTOOD, not carried over", ours.empty() ? "" : StrCat(" as ", ours), ":");
  }
  return "";
}

void Append(std::string& text, std::string_view sentence) {
  if (!sentence.empty()) text += StrCat(" ", sentence);
}

// What the row's reader gives, if it is a value that our setting may have.
StatusOr<Outcome> ReadValue(const Row& row, const toml::node& node) {
  if (!row.read) return Outcome{};
  CUZK_ASSIGN_OR_RETURN(Outcome outcome, row.read(node));
  if (row.fate == Fate::kCarried && outcome.value) {
    CUZK_RETURN_IF_ERROR(Settings::Load({.flags = {{std::string(row.ours), *outcome.value}}}).status());
  }
  return outcome;
}

ConvertedKey ConvertKey(const Row& row, const toml::node& node, Collected& out) {
  StatusOr<Outcome> outcome = ReadValue(row, node);
  if (!outcome.ok()) {
    return {.fate = Fate::kNotUnderstood,
            .key = std::string(row.key),
            .told = StrCat(FateName(Fate::kNotUnderstood, row.ours), " ", outcome.status().message(), ".")};
  }
  ConvertedKey key{.fate = row.fate, .key = std::string(row.key), .told = FateName(row.fate, row.ours)};
  Append(key.told, row.why);
  Append(key.told, outcome->remark);
  if (row.fate == Fate::kCarried && outcome->value) out.settings.emplace_back(row.ours, *std::move(outcome->value));
  return key;
}

void Collect(const toml::table& table, const std::string& prefix, Collected& out) {
  for (auto&& [key, node] : table) {
    std::string name = prefix + std::string(key.str());
    const toml::table* inner = node.as_table();
    if (inner && prefix.empty()) {
      Collect(*inner, name + ".", out);
      continue;
    }
    const Row* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.key == name; });
    unsigned line = key.source().begin.line;
    if (row != std::end(kRows)) {
      out.keys.emplace_back(line, ConvertKey(*row, node, out));
    } else {
      out.keys.emplace_back(line, ConvertedKey{Fate::kUnknown, name, FateName(Fate::kUnknown, "")});
    }
  }
}

// A paragraph of the file's comments; its later lines are indented.
std::string Comment(std::string_view paragraph) { return TomlComment(EscapeControl(paragraph), "#     "); }

// Whether that address would be reachable from elsewhere.
bool IsRemote(const std::vector<std::pair<std::string, std::string>>& settings, std::string_view name) {
  return std::any_of(settings.begin(), settings.end(), [name](const auto& setting) {
    if (setting.first != name) return false;
    StatusOr<Address> address = ParseAddress(setting.second);
    return address.ok() && !address->IsLocal();
  });
}

StatusOr<std::string> Write(const std::vector<std::pair<std::string, std::string>>& chosen) {
  CUZK_ASSIGN_OR_RETURN(Settings settings, Settings::Load({.flags = chosen}));
  std::string out;
  std::string_view section;
  for (const SettingRow& row : SettingTable()) {
    auto is_row = [&](const auto& setting) { return setting.first == row.name; };
    if (std::none_of(chosen.begin(), chosen.end(), is_row)) continue;
    if (SectionOf(row.name) != section) out += StrCat("\n[", SectionOf(row.name), "]\n");
    section = SectionOf(row.name);
    out += StrCat(KeyOf(row.name), " = ", settings.FileText(row), "\n");
  }
  return out;
}

}  // namespace

namespace {

// Keys of sections, as "section.key", and keys before any section.
std::vector<std::string> KeysOf(const toml::table& table) {
  std::vector<std::string> keys;
  for (auto&& [key, node] : table) {
    const toml::table* section = node.as_table();
    if (!section) keys.emplace_back(key.str());
    if (!section) continue;
    for (auto&& [inner, value] : *section)
      keys.push_back(StrCat(std::string(key.str()), ".", std::string(inner.str())));
  }
  return keys;
}

bool IsIncumbent(const std::string& key) {
  return std::any_of(std::begin(kRows), std::end(kRows), [&](const Row& row) { return row.key == key; });
}

bool IsOurs(const std::string& key) {
  return std::any_of(SettingTable().begin(), SettingTable().end(),
                     [&](const SettingRow& row) { return row.name == key; });
}

// The first key that only one of the two daemons has; empty if there is none.
std::string FirstKey(const toml::table& table, bool ours) {
  for (const std::string& key : KeysOf(table)) {
    if (ours ? IsOurs(key) && !IsIncumbent(key) : IsIncumbent(key) && !IsOurs(key)) return key;
  }
  return "";
}

constexpr std::string_view kHead = "Settings of cuzkd, ";  // of every file that cuzkd prints

// A converted file may hold nothing but keys that both daemons have, or comments.
Status CheckNotOurs(const toml::table& table, std::string_view text, std::string_view name) {
  const std::string key = FirstKey(table, /*ours=*/true);
  const bool converted = text.starts_with(StrCat("# ", kHead));
  if (!converted && (key.empty() || !FirstKey(table, /*ours=*/false).empty())) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(name, " is already a settings file of cuzkd",
                                           converted ? "" : StrCat(": it sets ", key),
                                           "; --convert-settings takes a file of the daemon shipped with Curio"));
}

}  // namespace

Status WithConverterAdvice(const Status& status, const SettingSources& sources) {
  if (status.ok() || !sources.file) return status;
  StatusOr<std::string> text = ReadFile(*sources.file, uint64_t{1} << 20);
  if (!text.ok()) return status;
  try {  // the parser's only way to report
    if (FirstKey(toml::parse(*text), /*ours=*/false).empty()) return status;
  } catch (const toml::parse_error&) {
    return status;
  }
  const std::string file = sources.file->string();
  return Status(status.code(),
                StrCat(status.message(), "; ", file, " is a settings file of the daemon shipped with Curio: ",
                       "convert it with cuzkd --convert-settings ", file));
}

std::vector<std::string_view> IncumbentKeys() {
  std::vector<std::string_view> keys;
  for (const Row& row : kRows) keys.push_back(row.key);
  return keys;
}

StatusOr<Conversion> ConvertSettings(std::string_view text, std::string_view name) {
  Collected collected;
  try {  // the parser's only way to report
    const toml::table table = toml::parse(text, name);
    CUZK_RETURN_IF_ERROR(CheckNotOurs(table, text, name));
    Collect(table, "", collected);
  } catch (const toml::parse_error& error) {
    return absl::InvalidArgumentError(
        StrCat(name, ":", error.source().begin.line, ": ", std::string(error.description())));
  }
  std::stable_sort(collected.keys.begin(), collected.keys.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto [name, allowed] : {std::pair("listen", "grpc.allow_plaintext"), {"http.listen", "http.allow_remote"}}) {
    if (IsRemote(collected.settings, name)) collected.settings.emplace_back(allowed, "true");
  }
  Conversion conversion;
  conversion.toml = Comment(StrCat(kHead, "converted from ", name,
                                   ". All other settings have their defaults (`cuzkd "
                                   "--print-defaults`). What became of each key:"));
  conversion.toml += "#\n";
  for (auto& [line, key] : collected.keys) {
    conversion.toml += Comment(StrCat(key.key, " (line ", line, "): ", key.told));
    conversion.keys.push_back(std::move(key));
  }
  CUZK_ASSIGN_OR_RETURN(std::string settings, Write(collected.settings));
  conversion.toml += StrCat("\n", settings);
  return conversion;
}

}  // namespace cuzk::daemon
