#include "core/filecoin/format/base64.h"

#include <algorithm>
#include <array>

#include "core/base/check.h"

namespace cuzk::filecoin {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint32_t kBad = 0xff000000;

using Table = std::array<std::array<uint32_t, 256>, 4>;

/// table[i][c]: where the six bits of character c go if it is the i-th of a group, as three little-endian bytes of
/// output; kBad for characters outside the alphabet.
constexpr Table MakeTable() {
  Table table{};
  for (auto& row : table) {
    for (uint32_t& entry : row) entry = kBad;
  }
  for (uint32_t value = 0; value < 64; ++value) {
    uint8_t c = static_cast<uint8_t>(kAlphabet[value]);
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t group = value << (6 * (3 - i));  // 24 bits, the first byte of output on top
      table[i][c] = (group >> 16 & 0xff) | (group & 0xff00) | (group & 0xff) << 16;
    }
  }
  return table;
}
constexpr Table kTable = MakeTable();

uint32_t Group(const char* p) {
  const uint8_t* c = reinterpret_cast<const uint8_t*>(p);
  return kTable[0][c[0]] | kTable[1][c[1]] | kTable[2][c[2]] | kTable[3][c[3]];
}

}  // namespace

Status Base64Source::BadCharacter(size_t begin) const {
  for (size_t i = begin; i < text_.size(); ++i) {
    if (kTable[0][static_cast<uint8_t>(text_[i])] != kBad) continue;
    return absl::InvalidArgumentError(StrCat("base64: '", Printable(text_.substr(i, 1)), "' at character ", i));
  }
  CUZK_CHECK(!"there is a bad character");
  return absl::OkStatus();
}

/// The last group, which may be padded.
Status Base64Source::DecodeLast(char* out, size_t& count) {
  std::string_view last = text_.substr(position_, 4);
  size_t padding = last[3] != '=' ? 0 : last[2] != '=' ? 1 : 2;
  char group[4] = {last[0], last[1], padding == 2 ? 'A' : last[2], padding != 0 ? 'A' : last[3]};
  uint32_t bits = Group(group);
  if (bits & kBad) return BadCharacter(position_);
  count = 3 - padding;
  if (padding != 0 && bits >> (8 * count) != 0) {
    return absl::InvalidArgumentError("base64: bits set in the last character that padding cuts off");
  }
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<char>(bits >> (8 * i));
  position_ += 4;
  return absl::OkStatus();
}

StatusOr<size_t> Base64Source::Read(char* out, size_t capacity) {
  if (text_.size() % 4 != 0) {
    return absl::InvalidArgumentError(StrCat("base64: ", text_.size(), " characters, not a multiple of four"));
  }
  char* begin = out;
  // Four bytes are stored for each three; the last group goes by itself.
  while (text_.size() - position_ > 4 && capacity - static_cast<size_t>(out - begin) >= 4) {
    uint32_t bits = Group(text_.data() + position_);
    if (bits & kBad) return BadCharacter(position_);
    StoreLe(reinterpret_cast<uint8_t*>(out), bits);
    out += 3;
    position_ += 4;
  }
  size_t done = static_cast<size_t>(out - begin);
  if (text_.size() - position_ == 4 && capacity - done >= 3) {
    size_t count = 0;
    CUZK_RETURN_IF_ERROR(DecodeLast(out, count));
    done += count;
  }
  return done;
}

/// Reads characters until the window is full or the string ends.
Status EscapedBase64Source::Fill() {
  if (!begun_) CUZK_RETURN_IF_ERROR(reader_.BeginString());
  begun_ = true;
  while (!ended_ && window_.size() - held_ >= TextSource::kLeastCapacity) {
    CUZK_ASSIGN_OR_RETURN(size_t got, reader_.StringPiece(window_.data() + held_, window_.size() - held_));
    ended_ = got == 0;
    held_ += got;
  }
  return absl::OkStatus();
}

StatusOr<size_t> EscapedBase64Source::Read(char* out, size_t capacity) {
  CUZK_RETURN_IF_ERROR(Fill());
  if (held_ == 0) return 0;
  // Whole groups that surely fit; where more text follows, at least one character stays, so that the last group is
  // known.
  size_t taken = std::min(ended_ ? held_ : (held_ - 1) / 4 * 4, (capacity - 4) / 3 * 4);
  const std::string_view text(window_.data(), taken);
  if ((!ended_ || taken < held_) && text.find('=') != text.npos) {
    return absl::InvalidArgumentError("base64: '=' before the end");
  }
  Base64Source source(text);
  CUZK_ASSIGN_OR_RETURN(size_t got, source.Read(out, capacity));
  std::copy(window_.begin() + taken, window_.begin() + held_, window_.begin());
  held_ -= taken;
  return got;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) text += k <= count ? kAlphabet[group >> (6 * (3 - k)) & 63] : '=';
  }
  return text;
}

}  // namespace cuzk::filecoin
