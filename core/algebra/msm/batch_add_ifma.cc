// Affine additions with AVX-512 IFMA; built with its flags.

#include "core/algebra/field/fp_lanes.h"
#include "core/algebra/msm/batch_add_kernel.h"

namespace cuzk::algebra {

template <>
size_t IfmaAddScratchBytes<Fp>() {
  return AddScratchBytes<Fp>();
}
template <>
size_t IfmaAddScratchBytes<Fp2>() {
  return AddScratchBytes<Fp2>();
}
template <>
void IfmaAdd<Fp>(std::span<const PointAddition<Fp>> additions, std::byte* scratch) {
  AddAll(additions, scratch);
}
template <>
void IfmaAdd<Fp2>(std::span<const PointAddition<Fp2>> additions, std::byte* scratch) {
  AddAll(additions, scratch);
}

}  // namespace cuzk::algebra
