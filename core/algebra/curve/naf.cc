#include "core/algebra/curve/naf.h"

#include "core/base/check.h"

namespace cuzk::algebra {

std::vector<int8_t> NafDigits(std::span<const uint64_t> k) {
  std::vector<uint64_t> rest(k.begin(), k.end());
  rest.push_back(0);
  std::vector<int8_t> digits;
  digits.reserve(64 * k.size() + 1);
  const size_t bits = 64 * k.size() + 1;
  auto window = [&](size_t i) {  // bits i .. i+5
    uint64_t low = rest[i / 64] >> (i % 64);
    if (i % 64 > 58 && i / 64 + 1 < rest.size()) low |= rest[i / 64 + 1] << (64 - i % 64);
    return static_cast<int>(low & 31);
  };
  int carry = 0;
  for (size_t i = 0; i < bits;) {
    if (((rest[i / 64] >> (i % 64) & 1) ^ static_cast<unsigned>(carry)) == 0) {
      digits.push_back(0);
      ++i;
      continue;
    }
    int digit = window(i) + carry;  // odd
    carry = digit >= 16 ? 1 : 0;
    digits.push_back(static_cast<int8_t>(digit - 32 * carry));
    for (int j = 1; j < 5 && i + j < bits; ++j) digits.push_back(0);
    i += 5;
  }
  CUZK_CHECK(carry == 0);
  return digits;
}

}  // namespace cuzk::algebra
