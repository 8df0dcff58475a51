#pragma once
// Byte arrays, hexadecimal, and integers of fixed endianness.

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace cuzk {

using Bytes32 = std::array<uint8_t, 32>;
using ByteSpan = std::span<const uint8_t>;

static_assert(std::endian::native == std::endian::little, "written for little-endian machines");

template <std::unsigned_integral T>
constexpr T ByteSwap(T v) {
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(v);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(v);
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(v);
  return v;
}

template <std::unsigned_integral T>
T LoadLe(const uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <std::unsigned_integral T>
T LoadBe(const uint8_t* p) {
  return ByteSwap(LoadLe<T>(p));
}
template <std::unsigned_integral T>
void StoreLe(uint8_t* p, T v) {
  std::memcpy(p, &v, sizeof v);
}
template <std::unsigned_integral T>
void StoreBe(uint8_t* p, T v) {
  StoreLe(p, ByteSwap(v));
}

/// The bytes of a string, without a copy; the string must outlive the span.
inline ByteSpan AsBytes(std::string_view s) { return {reinterpret_cast<const uint8_t*>(s.data()), s.size()}; }

/// Lower-case hexadecimal.
std::string ToHex(ByteSpan bytes);
/// InvalidArgument on odd length or a character that is not hexadecimal (either case is read).
StatusOr<std::vector<uint8_t>> FromHex(std::string_view hex);
/// The same for exactly 32 bytes.
StatusOr<Bytes32> Bytes32FromHex(std::string_view hex);

}  // namespace cuzk
