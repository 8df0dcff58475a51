#pragma once
#include "core/algebra/field/fr.h"
#include "core/base/bytes.h"

namespace cuzk::filecoin {

/// Little-endian bytes as an element; false if they are not canonical.
inline bool ToFr(const uint8_t* bytes, algebra::Fr& out) {
  algebra::Fr::Canonical value;
  for (size_t i = 0; i < 4; ++i) value[i] = LoadLe<uint64_t>(bytes + 8 * i);
  if (!algebra::Fr::IsCanonical(value)) return false;
  out = algebra::Fr::FromCanonical(value);
  return true;
}
inline bool ToFr(const Bytes32& bytes, algebra::Fr& out) { return ToFr(bytes.data(), out); }

}  // namespace cuzk::filecoin
