#pragma once
// The scalar field of BLS12-381.

#include "core/algebra/field/field.h"
#include "core/base/bytes.h"

namespace cuzk::algebra {

struct FrParams {
  static constexpr size_t kLimbs = 4;
  static constexpr uint64_t kModulus[4] = {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805,
                                           0x73eda753299d7d48};
};

using Fr = MontField<FrParams>;
static_assert(sizeof(Fr) == 32);

/// The field's multiplicative generator, which is also the shift of cosets.
inline constexpr uint64_t kFrGenerator = 7;
/// r - 1 is divisible by 2^32.
inline constexpr unsigned kFrTwoAdicity = 32;

/// Root of unity of order 2^log2_order, log2_order <= 32: 7^((r-1)/2^32) squared as often as needed.
Fr FrRootOfUnity(unsigned log2_order);

/// Sum of a[i] b[i], both equally long, with one reduction for up to 64 products.
Fr DotProduct(std::span<const Fr> a, std::span<const Fr> b);

/// Uniform from the operating system's generator (rejection sampling of 255 bits).
Fr RandomFr();

/// 32 little-endian bytes as an element; InvalidArgument that names `what` if they are not canonical.
StatusOr<Fr> FrFromBytes(const Bytes32& bytes, std::string_view what);

}  // namespace cuzk::algebra
