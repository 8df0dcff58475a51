#pragma once
// The vector lanes as operations on eight elements in memory form, for the law suites. The functions are built with the
// flags of AVX-512 IFMA and may be called only where the processor has it.

#include <cstddef>

namespace cuzk::algebra {

enum class LaneOperation { kAdd, kSub, kMul, kNegate, kTwice, kSquare, kSumOfMany };

/// out[i] = a[i] op b[i] for eight i. F is Fr, Fp or Fp2. kSumOfMany is a chain of sums and differences of products
/// that equals a b + a - b.
template <class F>
void ApplyLanes(LaneOperation operation, const F* a, const F* b, F* out);

}  // namespace cuzk::algebra
