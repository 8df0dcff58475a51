#pragma once
// What the end of a PoRep's payload shows without reading the rest.

#include <string_view>

#include "core/filecoin/types/registry.h"

namespace cuzk::filecoin {

/// The circuit of the SectorSize with which Curio ends the payload:
/// {"SectorNum":1,"Phase1Out":"...","SectorSize":2048}. Null if it does not end so, or names no size. A C1 of another
/// size fails when it is parsed.
const Circuit* CircuitAtTheEndOf(std::string_view payload);

}  // namespace cuzk::filecoin
