#pragma once
// How large a block of HTTP/2 headers becomes once it is decoded (RFC 7541), without decoding it.

#include <cstdint>
#include <optional>
#include <string_view>

namespace cuzk::daemon {

/// Looks through the header blocks of one connection, in their order. Not thread-safe.
class HeaderBlocks {
 public:
  /// An upper bound of the size by which HTTP/2 measures a header list: names, values, and 32 bytes a field. Nothing
  /// if the block is malformed: a number that does not end or has more than 32 bits, a text longer than the block.
  std::optional<uint64_t> Bound(std::string_view block);

 private:
  uint64_t largest_ = 0;  // of the fields that the connection's table may hold
};

}  // namespace cuzk::daemon
