#include "daemon/ctl/output/text_table.h"

#include <algorithm>

#include "core/base/check.h"

namespace cuzk::daemon {
namespace {

bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

size_t ColumnsOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !Continues(c); }));
}

std::string FitTo(std::string_view text, size_t columns) {
  size_t bytes = 0, seen = 0;
  while (bytes < text.size() && (seen < columns || Continues(text[bytes]))) seen += Continues(text[bytes++]) ? 0 : 1;
  std::string out(text.substr(0, bytes));
  out.append(columns - ColumnsOf(out), ' ');
  return out;
}

TextTable::TextTable(std::vector<std::string> heads) {
  for (std::string& head : heads) {
    right_.push_back(head.starts_with('>'));
    if (right_.back()) head.erase(0, 1);
  }
  rows_.push_back(std::move(heads));
}

void TextTable::Add(std::vector<std::string> cells) {
  CUZK_CHECK(cells.size() == right_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::string> TextTable::Lines() const {
  std::vector<size_t> widths(right_.size(), 0);
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], ColumnsOf(row[i]));
  }
  std::vector<std::string> lines;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      const std::string blanks(widths[i] - ColumnsOf(row[i]), ' ');
      line += right_[i] ? blanks + row[i] : row[i] + blanks;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace cuzk::daemon
