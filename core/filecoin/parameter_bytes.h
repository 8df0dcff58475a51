#pragma once
// How long parameter files are, so that one that is missing can be named with its length before its circuit is
// recorded, which takes seconds.

#include <cstdint>

#include "core/filecoin/types/registry.h"

namespace cuzk::filecoin {

/// Bytes of the parameter file of a circuit for which a trusted setup was published; 0 for the others.
uint64_t ParameterBytes(const Circuit& circuit);

}  // namespace cuzk::filecoin
