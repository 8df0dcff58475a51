#include "core/base/bytes.h"

#include <algorithm>

namespace cuzk {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string ToHex(ByteSpan bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (uint8_t b : bytes) {
    out.push_back(kDigits[b >> 4]);
    out.push_back(kDigits[b & 15]);
  }
  return out;
}

StatusOr<std::vector<uint8_t>> FromHex(std::string_view hex) {
  if (hex.size() % 2 != 0) return absl::InvalidArgumentError("hexadecimal text of odd length");
  std::vector<uint8_t> out(hex.size() / 2);
  for (size_t i = 0; i < out.size(); ++i) {
    int hi = HexDigit(hex[2 * i]), lo = HexDigit(hex[2 * i + 1]);
    if (hi < 0 || lo < 0) return absl::InvalidArgumentError(StrCat("not hexadecimal at character ", 2 * i));
    out[i] = static_cast<uint8_t>(hi << 4 | lo);
  }
  return out;
}

StatusOr<Bytes32> Bytes32FromHex(std::string_view hex) {
  CUZK_ASSIGN_OR_RETURN(std::vector<uint8_t> v, FromHex(hex));
  if (v.size() != 32) return absl::InvalidArgumentError(StrCat("expected 32 bytes, got ", v.size()));
  Bytes32 out;
  std::copy(v.begin(), v.end(), out.begin());
  return out;
}

}  // namespace cuzk
