#include "daemon/ingress/header_block.h"

#include <algorithm>

namespace cuzk::daemon {
namespace {

constexpr uint64_t kFieldBytes = 32;    // what RFC 7541 adds to the texts of a field
constexpr uint64_t kStaticField = 64;   // more than any field of the static table has
constexpr uint64_t kStaticFields = 61;  // of that table
constexpr uint64_t kMostText = 8;       // a byte of Huffman's code stands for less than two bytes: codes have 5 bits

/// Reads what a block consists of; `bad` once something does not fit.
struct Reader {
  std::string_view left;
  bool bad = false;

  /// A number with a prefix of so many bits; the bits above are not looked at.
  uint64_t Number(unsigned bits) {
    if (left.empty()) return Fail();
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    uint64_t value = static_cast<unsigned char>(left.front()) & mask;
    left.remove_prefix(1);
    if (value < mask) return value;
    for (unsigned shift = 0; shift <= 28; shift += 7) {
      if (left.empty()) return Fail();
      const auto byte = static_cast<unsigned char>(left.front());
      left.remove_prefix(1);
      value += uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value <= UINT32_MAX ? value : Fail();
    }
    return Fail();
  }

  /// Steps over a text; the most bytes that it may stand for.
  uint64_t Text() {
    const bool packed = !left.empty() && (static_cast<unsigned char>(left.front()) & 0x80) != 0;
    const uint64_t size = Number(7);
    if (bad || size > left.size()) return Fail();
    left.remove_prefix(size);
    return packed ? size * kMostText / 5 + 1 : size;
  }

  uint64_t Fail() {
    bad = true;
    return 0;
  }
};

}  // namespace

std::optional<uint64_t> HeaderBlocks::Bound(std::string_view block) {
  Reader in{block};
  uint64_t bound = 0;
  // Of a field that is named by its place: how large it may be at most. Which fields the table holds at that moment
  // is not followed; the largest that ever came in is.
  auto known = [this](uint64_t index) {
    return index <= kStaticFields ? kStaticField : std::max(largest_, kStaticField);
  };
  while (!in.left.empty() && !in.bad) {
    const auto first = static_cast<unsigned char>(in.left.front());
    if ((first & 0x80) != 0) {  // a field of the table
      bound += known(in.Number(7));
    } else if ((first & 0xE0) == 0x20) {  // another size of the table
      in.Number(5);
    } else {  // a value, and a name unless the table has it
      const bool kept = (first & 0x40) != 0;
      const uint64_t index = in.Number(kept ? 6 : 4);
      const uint64_t name = index != 0 ? known(index) : in.Text();
      const uint64_t field = name + in.Text() + kFieldBytes;
      if (kept) largest_ = std::max(largest_, field);
      bound += field;
    }
  }
  if (in.bad) return std::nullopt;
  return bound;
}

}  // namespace cuzk::daemon
