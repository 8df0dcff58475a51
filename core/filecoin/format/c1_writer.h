#pragma once
#include <string>

#include "core/filecoin/types/vanilla.h"

namespace cuzk::filecoin {

/// The JSON of a C1 output, with the keys in the order in which filecoin-proofs writes them.
std::string WriteCommitOutput(const PorepVanilla& vanilla);

/// The wrapper that Curio sends.
std::string WriteC1(const PorepVanilla& vanilla, uint64_t sector_number);

}  // namespace cuzk::filecoin
