#pragma once
// The vector lanes as operations on eight elements in memory form, for the law suites.

#include "core/algebra/field/fp2.h"
#include "core/algebra/field/fr.h"

namespace cuzk::algebra {

/// What the lanes do. kSumOfMany is a chain of sums and differences of products that equals a b + a - b.
enum class LaneOperation { kAdd, kSub, kMul, kNegate, kTwice, kSquare, kSumOfMany };

// out[i] = a[i] op b[i] for eight i.

/// Built with the flags of AVX-512 IFMA, and only for processors that have it.
void ApplyIfma(LaneOperation operation, const Fr* a, const Fr* b, Fr* out);
void ApplyIfma(LaneOperation operation, const Fp* a, const Fp* b, Fp* out);
void ApplyIfma(LaneOperation operation, const Fp2* a, const Fp2* b, Fp2* out);

void ApplyFma(LaneOperation operation, const Fp* a, const Fp* b, Fp* out);
void ApplyFma(LaneOperation operation, const Fp2* a, const Fp2* b, Fp2* out);

}  // namespace cuzk::algebra
