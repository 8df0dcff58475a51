#include "core/filecoin/format/json_fault.h"

#include <algorithm>

#include "core/base/text.h"

namespace cuzk::filecoin {
namespace {

constexpr int kMostLevels = 256;

/// Follows the grammar of RFC 8259. A function returns false at the first fault, which `expected` then describes and
/// `at` locates.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool Document() {
    if (!Value(0)) return false;
    Space();
    return at == text_.size() || Fault("the end of the text");
  }

  size_t at = 0;
  std::string expected;

 private:
  char Next() const { return at < text_.size() ? text_[at] : '\0'; }
  bool Fault(std::string_view what) {
    expected = what;
    return false;
  }
  void Space() {
    while (at < text_.size() && std::string_view(" \t\r\n").find(text_[at]) != std::string_view::npos) ++at;
  }
  bool Take(char wanted) {
    if (at >= text_.size() || text_[at] != wanted) return Fault(StrCat("'", std::string(1, wanted), "'"));
    ++at;
    return true;
  }

  bool Value(int level) {
    Space();
    if (level > kMostLevels) return Fault("fewer levels");
    switch (Next()) {
      case '{':
        return Object(level);
      case '[':
        return Array(level);
      case '"':
        return String();
      case 't':
        return Word("true");
      case 'f':
        return Word("false");
      case 'n':
        return Word("null");
      default:
        return Number();
    }
  }

  bool Object(int level) {
    ++at;
    Space();
    if (Next() == '}') return Take('}');
    while (true) {
      Space();
      if (Next() != '"') return Fault("a key in double quotes");
      if (!String()) return false;
      Space();
      if (!Take(':') || !Value(level + 1)) return false;
      Space();
      if (Next() == '}') return Take('}');
      if (Next() != ',') return Fault("',' or '}'");
      ++at;
    }
  }

  bool Array(int level) {
    ++at;
    Space();
    if (Next() == ']') return Take(']');
    while (true) {
      if (!Value(level + 1)) return false;
      Space();
      if (Next() == ']') return Take(']');
      if (Next() != ',') return Fault("',' or ']'");
      ++at;
    }
  }

  bool String() {
    ++at;
    while (at < text_.size() && text_[at] != '"') {
      if (static_cast<unsigned char>(text_[at]) < 0x20) return Fault("the end of the string in this line");
      if (text_[at] != '\\') {
        ++at;
        continue;
      }
      ++at;
      if (Next() == 'u') {
        for (int i = 0; i < 4; ++i) {
          ++at;
          if (std::string_view("0123456789abcdefABCDEF").find(Next()) == std::string_view::npos)
            return Fault("four hexadecimal digits");
        }
      } else if (std::string_view("\"\\/bfnrt").find(Next()) == std::string_view::npos) {
        return Fault("a valid escape");
      }
      ++at;
    }
    return Take('"');
  }

  bool Word(std::string_view word) {
    for (char c : word) {
      if (Next() != c) return Fault(word);
      ++at;
    }
    return true;
  }

  bool Digits() {
    if (Next() < '0' || Next() > '9') return Fault("a digit");
    while (Next() >= '0' && Next() <= '9') ++at;
    return true;
  }

  bool Number() {
    if (Next() != '-' && (Next() < '0' || Next() > '9')) return Fault("a value");
    if (Next() == '-') ++at;
    if (Next() == '0') {
      ++at;
    } else if (!Digits()) {
      return false;
    }
    if (Next() == '.') {
      ++at;
      if (!Digits()) return false;
    }
    if (Next() != 'e' && Next() != 'E') return true;
    ++at;
    if (Next() == '+' || Next() == '-') ++at;
    return Digits();
  }

  std::string_view text_;
};

}  // namespace

std::string JsonFault(std::string_view text) {
  Scanner scanner(text);
  if (scanner.Document()) return "";
  const std::string_view before = text.substr(0, std::min(scanner.at, text.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const size_t begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return StrCat(lines + 1, ":", before.size() - begin + 1, ": expected ", scanner.expected);
}

std::string JsonMistake(const std::filesystem::path& file, std::string_view text, std::string_view otherwise) {
  const std::string fault = JsonFault(text);
  return fault.empty() ? StrCat(file.string(), ": ", otherwise) : StrCat(file.string(), ":", fault);
}

}  // namespace cuzk::filecoin
