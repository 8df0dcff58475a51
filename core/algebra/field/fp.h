#pragma once
// The base field of BLS12-381.

#include "core/algebra/field/field.h"

namespace cuzk::algebra {

struct FpParams {
  static constexpr size_t kLimbs = 6;
  static constexpr uint64_t kModulus[6] = {0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
                                           0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a};
};

using Fp = MontField<FpParams>;
static_assert(sizeof(Fp) == 48);

}  // namespace cuzk::algebra
