#include "core/filecoin/chacha.h"

#include <bit>

namespace cuzk::filecoin {
namespace {

void QuarterRound(uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& d) {
  a += b, d = std::rotl(d ^ a, 16);
  c += d, b = std::rotl(b ^ c, 12);
  a += b, d = std::rotl(d ^ a, 8);
  c += d, b = std::rotl(b ^ c, 7);
}

}  // namespace

ChaCha::ChaCha(unsigned rounds, const Bytes32& key, const std::array<uint32_t, 3>& tail)
    : rounds_(rounds), state_{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574} {
  for (size_t i = 0; i < 8; ++i) state_[4 + i] = LoadLe<uint32_t>(key.data() + 4 * i);
  for (size_t i = 0; i < 3; ++i) state_[13 + i] = tail[i];
}

ChaCha::Block ChaCha::BlockAt(uint32_t index) const {
  Block start = state_;
  start[12] = index;
  Block x = start;
  for (unsigned round = 0; round < rounds_; round += 2) {
    for (size_t i = 0; i < 4; ++i) QuarterRound(x[i], x[4 + i], x[8 + i], x[12 + i]);
    for (size_t i = 0; i < 4; ++i) QuarterRound(x[i], x[4 + (i + 1) % 4], x[8 + (i + 2) % 4], x[12 + (i + 3) % 4]);
  }
  for (size_t i = 0; i < 16; ++i) x[i] += start[i];
  return x;
}

}  // namespace cuzk::filecoin
