// Built with the flags of AVX-512 IFMA.

#include "core/algebra/field/fp_lanes.h"
#include "core/algebra/field/fr_lanes.h"
#include "tests/unit/algebra/lanes_apply.h"

namespace cuzk::algebra {

void ApplyIfma(LaneOperation operation, const Fr* a, const Fr* b, Fr* out) {
  Apply(operation, FrX8::FromMemory(a, 1), FrX8::FromMemory(b, 1)).ToMemory(out, 1);
}
void ApplyIfma(LaneOperation operation, const Fp* a, const Fp* b, Fp* out) { ApplyToFp(operation, a, b, out); }
void ApplyIfma(LaneOperation operation, const Fp2* a, const Fp2* b, Fp2* out) { ApplyToFp2(operation, a, b, out); }

}  // namespace cuzk::algebra
