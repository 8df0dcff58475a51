#pragma once
// Where a text stops being JSON.

#include <filesystem>
#include <string>
#include <string_view>

namespace cuzk::filecoin {

/// "3:7: expected ',' or '}'": line and column, counted from 1 and in bytes, of the first character that no JSON text
/// could have there, and what was expected. Empty if the text is JSON of at most 256 levels.
std::string JsonFault(std::string_view text);

/// "FILE:3:7: expected ...", or "FILE: " and `otherwise` where the text is JSON all the same.
std::string JsonMistake(const std::filesystem::path& file, std::string_view text, std::string_view otherwise);

}  // namespace cuzk::filecoin
