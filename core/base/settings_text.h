#pragma once
// How a setting's value is checked and written as text; for the settings reader alone.

#include "core/base/settings.h"

namespace cuzk {

/// OK, or what the row expects instead of `text`.
Status CheckSettingText(const SettingRow& row, std::string_view text);
/// What an ecosystem's variable says, as the setting that it stands for would hold it.
std::string EcosystemText(std::string_view variable, std::string_view text);
/// The parts of a comma-separated list, blanks around each removed; none for an empty text.
std::vector<std::string> SplitList(std::string_view text);
/// `text` in double quotes with TOML's escapes.
std::string QuoteToml(std::string_view text);

}  // namespace cuzk
