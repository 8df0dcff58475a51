#include "core/algebra/field/fp_lanes_fma.h"
#include "tests/unit/algebra/lanes_apply.h"

namespace cuzk::algebra {

void ApplyFma(LaneOperation operation, const Fp* a, const Fp* b, Fp* out) { ApplyToFp(operation, a, b, out); }
void ApplyFma(LaneOperation operation, const Fp2* a, const Fp2* b, Fp2* out) { ApplyToFp2(operation, a, b, out); }

}  // namespace cuzk::algebra
