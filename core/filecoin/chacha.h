#pragma once
// The ChaCha block function (RFC 8439) with a chosen number of rounds: the graph draws parents from ChaCha8, synthetic
// challenges come from ChaCha20. Blocks are addressed directly, so that single words of a long stream are cheap.

#include <array>
#include <cstdint>

#include "core/base/bytes.h"

namespace cuzk::filecoin {

class ChaCha {
 public:
  /// `tail` are words 13, 14 and 15 of the state; word 12 counts blocks.
  ChaCha(unsigned rounds, const Bytes32& key, const std::array<uint32_t, 3>& tail);

  using Block = std::array<uint32_t, 16>;
  /// Block `index` of the key stream; its bytes are the words in little-endian order.
  Block BlockAt(uint32_t index) const;

 private:
  unsigned rounds_;
  std::array<uint32_t, 16> state_;
};

/// Words of a ChaCha stream in order.
class ChaChaStream {
 public:
  explicit ChaChaStream(ChaCha cipher) : cipher_(cipher) {}
  uint32_t NextU32() {
    if (position_ % 16 == 0) block_ = cipher_.BlockAt(position_ / 16);
    return block_[position_++ % 16];
  }
  /// Two words, the low one first.
  uint64_t NextU64() {
    uint64_t low = NextU32();
    return low | static_cast<uint64_t>(NextU32()) << 32;
  }

 private:
  ChaCha cipher_;
  ChaCha::Block block_{};
  uint32_t position_ = 0;
};

}  // namespace cuzk::filecoin
