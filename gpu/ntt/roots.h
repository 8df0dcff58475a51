#pragma once
// The few field elements that tables are made from, computed on the host. (Host arithmetic stays out of .cu files.)

#include <vector>

#include "core/algebra/field/fr.h"

namespace cuzk::gpu::ntt {

/// base, base^2, base^4, ...: `count` of them.
std::vector<algebra::Fr> RepeatedSquares(algebra::Fr base, int count);
/// 7, or 1/7.
algebra::Fr CosetShift(bool inverse);

}  // namespace cuzk::gpu::ntt
