#pragma once
// Signed recoding of scalars for multiplication by doubling and adding.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/algebra/curve/curve.h"

namespace cuzk::algebra {

/// Digits of the non-adjacent form of width 5: zero or odd, between -15 and 15, least significant first.
std::vector<int8_t> NafDigits(std::span<const uint64_t> k);

/// p, 3p, .. 15p: what the digits select from.
template <class F>
std::array<JacobianPoint<F>, 8> OddMultiples(const JacobianPoint<F>& p) {
  std::array<JacobianPoint<F>, 8> odd;
  odd[0] = p;
  JacobianPoint<F> twice = Double(p);
  for (int i = 1; i < 8; ++i) odd[i] = odd[i - 1] + twice;
  return odd;
}

}  // namespace cuzk::algebra
