#pragma once
// A table of text with aligned columns.

#include <string>
#include <string_view>
#include <vector>

namespace cuzk::daemon {

/// Columns that a text takes on a terminal, counting one for each character of UTF-8.
size_t ColumnsOf(std::string_view text);
/// The text cut or filled with blanks to exactly that many columns.
std::string FitTo(std::string_view text, size_t columns);

/// `TextTable table({"KIND", ">WAITING"}); table.Add({"porep", "3"}); table.Lines()`. A column whose head begins with
/// ">" is aligned to the right. Every row has as many cells as there are heads.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> heads);
  void Add(std::vector<std::string> cells);
  bool empty() const { return rows_.size() == 1; }
  /// The heads and the rows. Columns are two blanks apart; lines do not end with blanks.
  std::vector<std::string> Lines() const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;  // the heads first
};

}  // namespace cuzk::daemon
