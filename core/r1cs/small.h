#pragma once
// Small integers and powers of two as field elements, from tables.

#include <array>

#include "core/algebra/field/fr.h"

namespace cuzk::r1cs {

namespace internal {
constexpr std::array<algebra::Fr, 256> MakeSmallIntegers() {
  std::array<algebra::Fr, 256> table{};
  algebra::Fr up{}, down{};
  for (size_t i = 0; i <= 128; ++i) {
    if (i < 128) table[128 + i] = up;
    table[128 - i] = down;
    up += algebra::Fr::One();
    down -= algebra::Fr::One();
  }
  return table;
}
constexpr std::array<algebra::Fr, 256> MakePowersOfTwo() {
  std::array<algebra::Fr, 256> table{};
  table[0] = algebra::Fr::One();
  for (size_t i = 1; i < table.size(); ++i) table[i] = table[i - 1].Double();
  return table;
}
}  // namespace internal

/// kSmallIntegers[128 + v] = v for -128 <= v < 128.
inline constexpr std::array<algebra::Fr, 256> kSmallIntegers = internal::MakeSmallIntegers();
/// kPowersOfTwo[k] = 2^k mod r.
inline constexpr std::array<algebra::Fr, 256> kPowersOfTwo = internal::MakePowersOfTwo();

inline algebra::Fr SmallInteger(int64_t v) {
  return v >= -128 && v < 128 ? kSmallIntegers[static_cast<size_t>(v + 128)] : algebra::Fr::FromI64(v);
}

}  // namespace cuzk::r1cs
