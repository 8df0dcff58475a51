#pragma once
// Frames of HTTP/2 as RFC 9113 has them, and the prefix of gRPC's messages within them.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace cuzk::daemon::http2 {

inline constexpr size_t kHeadBytes = 9;    ///< before the payload of a frame: length, type, flags, stream
inline constexpr size_t kPrefixBytes = 5;  ///< before a message of gRPC: whether it is compressed, length
/// The largest payload of the frames that are written here: a little less than every peer takes.
inline constexpr size_t kPiece = 16'000;

inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
enum Type : uint8_t {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kResetStream = 3,
  kSettings = 4,
  kPushPromise = 5,
  kPing = 6,
  kGoAway = 7,
  kWindowUpdate = 8,
  kContinuation = 9
};
inline constexpr uint8_t kEndStream = 1, kEndHeaders = 4, kPadded = 8, kWithPriority = 0x20;
inline constexpr uint32_t kProtocolError = 1, kFrameSizeError = 6, kRefusedStream = 7, kCancel = 8,
                          kCompressionError = 9, kEnhanceYourCalm = 11;
/// In network order.
inline std::string Number(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift & 0xFF));
  return bytes;
}

inline uint32_t ReadNumber(std::string_view bytes) {
  uint32_t value = 0;
  for (char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

inline void AppendFrame(std::string& to, uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  to += Number(static_cast<uint32_t>(payload.size())).substr(1);
  to.push_back(static_cast<char>(type));
  to.push_back(static_cast<char>(flags));
  to += Number(stream);
  to += payload;
}

/// Takes bytes from the front until `collected` has `size`; whether it has.
inline bool Collect(std::string_view& bytes, std::string& collected, size_t size) {
  const size_t taken = std::min(bytes.size(), size - collected.size());
  collected += bytes.substr(0, taken);
  bytes.remove_prefix(taken);
  return collected.size() == size;
}

}  // namespace cuzk::daemon::http2
