#include "core/base/settings/settings_text.h"

#include <array>
#include <cctype>
#include <charconv>
#include <limits>

#include "core/base/bytes.h"
#include "core/base/check.h"

namespace cuzk {
namespace {

struct Unit {
  std::string_view name;
  uint64_t factor;
};
constexpr std::array<Unit, 5> kSizeUnits{
    {{"B", 1}, {"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30}, {"TiB", 1ull << 40}}};
constexpr std::array<Unit, 4> kDurationUnits{{{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}}};

std::optional<uint64_t> WholeNumber(std::string_view text, int base = 10) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

template <size_t N>
std::optional<uint64_t> WithUnit(std::string_view text, const std::array<Unit, N>& units, uint64_t limit) {
  size_t digits = text.find_first_not_of("0123456789");
  if (digits == std::string_view::npos || digits == 0) return std::nullopt;
  std::optional<uint64_t> number = WholeNumber(text.substr(0, digits));
  for (const Unit& unit : units) {
    if (unit.name == text.substr(digits) && number && *number <= limit / unit.factor) return *number * unit.factor;
  }
  return std::nullopt;
}

bool IsChoice(std::string_view choices, std::string_view text) {
  while (!choices.empty()) {
    size_t bar = choices.find('|');
    if (choices.substr(0, bar) == text) return true;
    choices = bar == std::string_view::npos ? std::string_view() : choices.substr(bar + 1);
  }
  return false;
}

bool IsMode(std::string_view text) {
  std::optional<uint64_t> mode = WholeNumber(text, 8);
  return text.size() == 4 && text[0] == '0' && mode && *mode <= 0777;
}

Status Expected(const SettingRow& row, std::string_view form, std::string_view text) {
  std::string choices =
      row.choices.empty() ? std::string() : StrCat(row.type == SettingType::kText ? " " : ", or ", row.choices);
  return absl::InvalidArgumentError(StrCat(row.name, ": expected ", form, choices, ", not \"", text, "\""));
}

/// The number that a text of such a row stands for: itself, bytes or milliseconds.
std::optional<uint64_t> NumberOf(const SettingRow& row, std::string_view text) {
  switch (row.type) {
    case SettingType::kInteger:
      return WholeNumber(text);
    case SettingType::kSize:
      return WithUnit(text, kSizeUnits, std::numeric_limits<uint64_t>::max());
    case SettingType::kDuration:
      return WithUnit(text, kDurationUnits, std::numeric_limits<uint64_t>::max());
    default:
      return std::nullopt;
  }
}

struct Range {
  std::string_view least, most;
};
std::optional<Range> RangeOf(const SettingRow& row) {
  const size_t dots = row.range.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  return Range{row.range.substr(0, dots), row.range.substr(dots + 2)};
}

Status CheckRange(const SettingRow& row, std::string_view text) {
  const std::optional<Range> range = RangeOf(row);
  if (!range) return absl::OkStatus();
  const std::optional<uint64_t> least = NumberOf(row, range->least), most = NumberOf(row, range->most);
  CUZK_CHECK(least && most && *least <= *most);
  const std::optional<uint64_t> value = NumberOf(row, text);
  if (value && *value >= *least && *value <= *most) return absl::OkStatus();
  return Expected(row, StrCat("a value from ", range->least, " to ", range->most), text);
}

}  // namespace

StatusOr<uint64_t> ParseSize(std::string_view text) {
  if (auto value = WithUnit(text, kSizeUnits, std::numeric_limits<uint64_t>::max())) return *value;
  return absl::InvalidArgumentError(StrCat("\"", text, "\" is not a size such as 256MiB (B, KiB, MiB, GiB, TiB)"));
}

StatusOr<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  // A hundred years, so that no sum of two of them overflows a clock.
  constexpr uint64_t kLongest = 100ull * 366 * 24 * 3'600'000;
  if (auto value = WithUnit(text, kDurationUnits, kLongest)) return std::chrono::milliseconds(*value);
  return absl::InvalidArgumentError(StrCat("\"", text, "\" is not a duration such as 30s (ms, s, m, h)"));
}

std::string FormatSize(uint64_t bytes) {
  for (size_t i = kSizeUnits.size(); i-- > 1;) {
    if (bytes != 0 && bytes % kSizeUnits[i].factor == 0)
      return StrCat(bytes / kSizeUnits[i].factor, kSizeUnits[i].name);
  }
  return StrCat(bytes, "B");
}

std::string_view SettingTypeName(SettingType type) {
  switch (type) {
    case SettingType::kText:
      return "text";
    case SettingType::kBool:
      return "true or false";
    case SettingType::kInteger:
      return "whole number";
    case SettingType::kSize:
      return "size";
    case SettingType::kDuration:
      return "duration";
    case SettingType::kMode:
      return "permission bits";
    case SettingType::kList:
      return "list of texts";
  }
  return "";
}

Status CheckSettingText(const SettingRow& row, std::string_view text) {
  if (IsChoice(row.choices, text)) return absl::OkStatus();
  switch (row.type) {
    case SettingType::kText:
    case SettingType::kList:
      for (unsigned char c : text) {
        if (c < 0x20 || c == 0x7f) {
          return absl::InvalidArgumentError(StrCat(row.name, ": control character in the value"));
        }
      }
      if (row.type == SettingType::kText && !row.choices.empty()) return Expected(row, "one of", text);
      return absl::OkStatus();
    case SettingType::kBool:
      return text == "true" || text == "false" ? absl::OkStatus() : Expected(row, "true or false", text);
    case SettingType::kInteger:
      return WholeNumber(text) ? CheckRange(row, text) : Expected(row, "a whole number", text);
    case SettingType::kSize:
      return ParseSize(text).ok() ? CheckRange(row, text) : Expected(row, "a size such as 256MiB", text);
    case SettingType::kDuration:
      return ParseDuration(text).ok() ? CheckRange(row, text) : Expected(row, "a duration such as 30s", text);
    case SettingType::kMode:
      return IsMode(text) ? absl::OkStatus() : Expected(row, "permission bits such as 0660", text);
  }
  return absl::OkStatus();
}

std::string_view SectionOf(std::string_view name) {
  size_t dot = name.find('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

std::string_view KeyOf(std::string_view name) {
  return name.substr(name.find('.') == std::string_view::npos ? 0 : name.find('.') + 1);
}

std::string ValueInWords(const SettingRow& row) {
  std::string text = StrCat("Value: ", SettingTypeName(row.type), row.unit.empty() ? "" : " of ", row.unit);
  if (const auto range = RangeOf(row)) text += StrCat(", ", range->least, " to ", range->most);
  if (!row.choices.empty()) text += StrCat(row.type == SettingType::kText ? ": " : ", or ", row.choices);
  return text;
}

std::string TomlComment(std::string_view text, std::string_view next_line) {
  std::string out, line("#");
  while (!text.empty()) {
    size_t blank = text.find(' ');
    std::string_view word = text.substr(0, blank);
    if (line.size() + 1 + word.size() > 118) {
      out += StrCat(line, "\n");
      line = next_line;
    }
    line += StrCat(" ", word);
    text = blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
  }
  return StrCat(out, line, "\n");
}

std::string EcosystemText(std::string_view variable, std::string_view text) {
  if (variable == "BELLMAN_NO_GPU") return "cpu";  // set to anything
  if (variable != "RUST_LOG") return std::string(text);
  // A filter such as "warn,bellperson=debug": the part without a target is the level of everything else.
  std::string level = "info";
  for (const std::string& part : SplitList(text)) {
    if (part.find('=') == std::string::npos) level = part;
  }
  for (char& c : level) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (level == "trace") return "debug";
  if (level == "warn") return "warning";
  if (level == "off") return "error";
  // The name of a crate alone asks for everything of it, which we have nothing of.
  return level == "debug" || level == "error" ? level : "info";
}

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return parts;
}

std::string QuoteToml(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      uint8_t byte = static_cast<uint8_t>(c);
      quoted += StrCat("\\u00", ToHex({&byte, 1}));
    } else {
      quoted += c;
    }
  }
  return StrCat(quoted, "\"");
}

}  // namespace cuzk
