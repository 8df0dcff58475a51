#include "core/filecoin/format/json_reader.h"

#include <cstring>

namespace cuzk::filecoin {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

void AppendUtf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

/// Shows a character of the text in an error without letting it break the line.
std::string Shown(char c) {
  if (c > 0x20 && c < 0x7f) return StrCat("'", std::string(1, c), "'");
  uint8_t byte = static_cast<uint8_t>(c);
  return StrCat("byte 0x", ToHex({&byte, 1}));
}

}  // namespace

std::string Printable(std::string_view text) {
  constexpr size_t kLongest = 64;
  std::string shown(text.substr(0, kLongest));
  for (char& c : shown) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  if (text.size() > kLongest) shown += "...";
  return shown;
}

JsonReader::JsonReader(TextSource& source) : source_(&source), window_(new char[kWindow]) {
  next_ = end_ = window_.get();
}

Status JsonReader::Error(std::string_view what) const {
  return absl::InvalidArgumentError(StrCat(what, " (at byte ", length_ - static_cast<uint64_t>(end_ - next_), ")"));
}

Status JsonReader::Refill() {
  if (source_ == nullptr || ended_) return absl::OkStatus();
  size_t kept = static_cast<size_t>(end_ - next_);
  std::memmove(window_.get(), next_, kept);
  next_ = window_.get();
  end_ = next_ + kept;
  while (static_cast<size_t>(end_ - next_) + TextSource::kLeastCapacity <= kWindow) {
    size_t have = static_cast<size_t>(end_ - next_);
    auto got = source_->Read(window_.get() + have, kWindow - have);
    if (!got.ok()) return got.status();
    if (*got == 0) {
      ended_ = true;
      break;
    }
    end_ += *got;
    length_ += *got;
  }
  return absl::OkStatus();
}

StatusOr<char> JsonReader::Peek() {
  while (true) {
    while (next_ < end_ && IsSpace(*next_)) ++next_;
    if (next_ < end_) return *next_;
    if (source_ == nullptr || ended_) return '\0';
    CUZK_RETURN_IF_ERROR(Refill());
  }
}

StatusOr<char> JsonReader::Character() {
  if (next_ == end_) CUZK_RETURN_IF_ERROR(Refill());
  if (next_ == end_) return Error("the text ends inside a string");
  return *next_++;
}

Status JsonReader::Expect(char wanted) {
  CUZK_ASSIGN_OR_RETURN(char c, Peek());
  if (next_ == end_) return Error(StrCat("the text ends where ", Shown(wanted), " belongs"));
  if (c != wanted) return Error(StrCat(Shown(c), " where ", Shown(wanted), " belongs"));
  ++next_;
  return absl::OkStatus();
}

StatusOr<bool> JsonReader::Next(bool first, char close) {
  CUZK_ASSIGN_OR_RETURN(char c, Peek());
  if (next_ == end_) return Error(StrCat("the text ends where ", Shown(close), " belongs"));
  if (c == close) {
    ++next_;
    return false;
  }
  if (first) return true;
  CUZK_RETURN_IF_ERROR(Expect(','));
  CUZK_ASSIGN_OR_RETURN(c, Peek());
  if (next_ != end_ && c == close) return Error(StrCat(Shown(c), " after a comma"));
  return true;
}

Status JsonReader::Escape(std::string& out) {
  CUZK_ASSIGN_OR_RETURN(char c, Character());
  constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
  if (size_t i = kNames.find(c); i != std::string_view::npos) {
    out += kValues[i];
    return absl::OkStatus();
  }
  if (c != 'u') return Error("unknown escape in a string");
  uint32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    CUZK_ASSIGN_OR_RETURN(char digit, Character());
    size_t value = std::string_view("0123456789abcdef").find(static_cast<char>(digit | 0x20));
    if (value == std::string_view::npos) return Error("malformed \\u escape in a string");
    code = code << 4 | static_cast<uint32_t>(value);
  }
  if (code >= 0xd800 && code < 0xe000) return Error("surrogate escape in a string");
  AppendUtf8(out, code);
  return absl::OkStatus();
}

/// Appends one character of a string; false at the quote that closes it.
StatusOr<bool> JsonReader::StringCharacter(std::string& out) {
  CUZK_ASSIGN_OR_RETURN(char c, Character());
  if (c == '"') return false;
  if (static_cast<uint8_t>(c) < 0x20) return Error("control character in a string");
  if (c == '\\') {
    CUZK_RETURN_IF_ERROR(Escape(out));
  } else {
    out += c;
  }
  return true;
}

StatusOr<std::string> JsonReader::String(size_t longest) {
  CUZK_RETURN_IF_ERROR(Expect('"'));
  std::string out;
  while (true) {
    CUZK_ASSIGN_OR_RETURN(bool more, StringCharacter(out));
    if (!more) return out;
    if (out.size() > longest) return Error("string too long");
  }
}

StatusOr<size_t> JsonReader::StringPiece(char* out, size_t capacity) {
  size_t size = 0;
  std::string character;
  while (!string_ended_ && size + 3 <= capacity) {  // an escape gives three bytes at most
    character.clear();
    CUZK_ASSIGN_OR_RETURN(bool more, StringCharacter(character));
    string_ended_ = !more;
    size += character.copy(out + size, capacity - size);
  }
  return size;
}

StatusOr<std::string> JsonReader::Key() {
  CUZK_ASSIGN_OR_RETURN(std::string key, String());
  CUZK_RETURN_IF_ERROR(Expect(':'));
  return key;
}

StatusOr<std::string_view> JsonReader::RawString() {
  CUZK_RETURN_IF_ERROR(Expect('"'));
  const char* begin = next_;
  while (next_ < end_) {
    const void* quote = std::memchr(next_, '"', static_cast<size_t>(end_ - next_));
    if (quote == nullptr) break;
    const char* at = static_cast<const char*>(quote);
    size_t backslashes = 0;
    while (at - backslashes > begin && at[-1 - static_cast<ptrdiff_t>(backslashes)] == '\\') ++backslashes;
    next_ = at + 1;
    if (backslashes % 2 == 0) return std::string_view(begin, static_cast<size_t>(at - begin));
  }
  next_ = end_;
  return Error("the text ends inside a string");
}

StatusOr<uint64_t> JsonReader::Integer() {
  CUZK_ASSIGN_OR_RETURN(char c, Peek());
  if (next_ == end_) return Error("the text ends where a number belongs");
  if (c < '0' || c > '9') return Error(StrCat(Shown(c), " where a whole number belongs"));
  uint64_t value = 0;
  for (size_t digits = 0;; ++digits) {
    if (next_ == end_) CUZK_RETURN_IF_ERROR(Refill());
    if (next_ == end_ || *next_ < '0' || *next_ > '9') break;
    if (digits == 1 && value == 0) return Error("number with a leading zero");
    uint64_t digit = static_cast<uint64_t>(*next_ - '0');
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value)) {
      return Error("number too large");
    }
    ++next_;
  }
  if (next_ != end_ && (*next_ == '.' || *next_ == 'e' || *next_ == 'E')) return Error("number that is not whole");
  return value;
}

Status JsonReader::Null() {
  CUZK_ASSIGN_OR_RETURN(char c, Peek());
  if (c != 'n') return Error("something where null belongs");
  if (static_cast<size_t>(end_ - next_) < 4) CUZK_RETURN_IF_ERROR(Refill());
  if (static_cast<size_t>(end_ - next_) < 4 || std::memcmp(next_, "null", 4) != 0) {
    return Error("something where null belongs");
  }
  next_ += 4;
  return absl::OkStatus();
}

Status JsonReader::End() {
  CUZK_ASSIGN_OR_RETURN(char c, Peek());
  if (next_ != end_) return Error(StrCat(Shown(c), " after the end"));
  return absl::OkStatus();
}

/// Reads a digest without spaces, of which kDigestText characters are in the window; without a branch on the number of
/// digits, which nobody can predict. False, with nothing taken, for anything unusual, errors included.
bool JsonReader::QuickDigest(Bytes32& out) {
  const char* p = next_;
  if (*p++ != '[') return false;
  uint32_t wrong = 0;
  for (size_t i = 0; i < 32; ++i) {
    uint32_t digits = LoadLe<uint32_t>(reinterpret_cast<const uint8_t*>(p)) ^ 0x30303030;
    // The high bit of each byte that is no digit: 0..9 stay below 0x80 when 0x76 is added, others have it already or
    // get it.
    uint32_t stops = ((((digits & 0x7f7f7f7f) + 0x76767676) | digits) & 0x80808080);
    if (stops == 0) return false;
    unsigned length = static_cast<unsigned>(__builtin_ctz(stops)) / 8;
    wrong |= length == 0;
    wrong |= length > 1 && (digits & 0xff) == 0;  // leading zero
    uint32_t aligned = static_cast<uint32_t>(static_cast<uint64_t>(digits) << (8 * (4 - length)));
    uint32_t value = (aligned >> 8 & 0xff) * 100 + (aligned >> 16 & 0xff) * 10 + (aligned >> 24);
    wrong |= value > 255;
    wrong |= p[length] != (i < 31 ? ',' : ']');
    out[i] = static_cast<uint8_t>(value);
    p += length + 1;
  }
  if (wrong != 0) return false;
  next_ = p;
  return true;
}

Status JsonReader::SlowDigest(Bytes32& out) {
  return ReadArray(*this, 32, "bytes", [&](size_t i) -> Status {
    CUZK_ASSIGN_OR_RETURN(uint64_t value, Integer());
    if (value > 255) return Error(StrCat(value, " where a byte belongs"));
    out[i] = static_cast<uint8_t>(value);
    return absl::OkStatus();
  });
}

Status JsonReader::Digest(Bytes32& out) {
  if (static_cast<size_t>(end_ - next_) < kDigestText) CUZK_RETURN_IF_ERROR(Refill());
  if (static_cast<size_t>(end_ - next_) >= kDigestText && QuickDigest(out)) return absl::OkStatus();
  return SlowDigest(out);
}

}  // namespace cuzk::filecoin
