// Affine additions with AVX2 and FMA.

#include "core/algebra/field/fp_lanes_fma.h"
#include "core/algebra/msm/batch_add_kernel.h"

namespace cuzk::algebra {

template <>
size_t FmaAddScratchBytes<Fp>() {
  return AddScratchBytes<Fp>();
}
template <>
size_t FmaAddScratchBytes<Fp2>() {
  return AddScratchBytes<Fp2>();
}
template <>
void FmaAdd<Fp>(std::span<const PointAddition<Fp>> additions, std::byte* scratch) {
  AddAll(additions, scratch);
}
template <>
void FmaAdd<Fp2>(std::span<const PointAddition<Fp2>> additions, std::byte* scratch) {
  AddAll(additions, scratch);
}

}  // namespace cuzk::algebra
