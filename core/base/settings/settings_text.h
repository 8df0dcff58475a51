#pragma once
// How a setting and its value are checked and written as text; for the reader of settings and the pages about them.

#include "core/base/settings/settings.h"

namespace cuzk {

/// OK, or what the row expects instead of `text`.
Status CheckSettingText(const SettingRow& row, std::string_view text);
/// "section" and "key" of "section.key"; a name without a section is a key.
std::string_view SectionOf(std::string_view name);
std::string_view KeyOf(std::string_view name);
/// "Value: text: a|b", "Value: whole number of threads".
std::string ValueInWords(const SettingRow& row);
/// A paragraph as TOML comment lines of at most 118 columns; all but the first begin with `next_line`.
std::string TomlComment(std::string_view text, std::string_view next_line = "#");
/// The value of another Filecoin program's variable, converted to a value of the setting that it sets.
std::string EcosystemText(std::string_view variable, std::string_view text);
/// The parts of a comma-separated list, blanks around each removed; none for an empty text.
std::vector<std::string> SplitList(std::string_view text);
/// `text` in double quotes with TOML's escapes.
std::string QuoteToml(std::string_view text);

}  // namespace cuzk
