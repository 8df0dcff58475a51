#pragma once
// Inversion modulo an odd prime by division steps (D. Bernstein, B.-Y. Yang, eprint 2019/266), 62 steps at a time.
// Variable time. About a tenth of the cost of an exponentiation.

#include <cstddef>
#include <cstdint>

namespace cuzk::algebra {

/// r = scale / a mod p, all of N words of 64 bits, least significant first; r is reduced. a below p; a = 0 gives 0.
/// N is 4 or 6, and p is below 2^(64 N - 1).
template <size_t N>
void InvertModulo(const uint64_t (&a)[N], const uint64_t (&p)[N], const uint64_t (&scale)[N], uint64_t (&r)[N]);

}  // namespace cuzk::algebra
