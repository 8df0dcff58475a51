#pragma once
// How long parameter files are, so that one that is missing can be named with its length before its circuit is
// recorded, which takes seconds.

#include <cstdint>
#include <filesystem>

#include "core/base/status.h"
#include "core/filecoin/types/registry.h"

namespace cuzk::filecoin {

/// Bytes of the parameter file of a circuit for which a trusted setup was published; 0 for the others.
uint64_t ParameterBytes(const Circuit& circuit);

/// groth16::CheckHead of the circuit's parameter file, with its length where that is known: a file that was cut, that
/// is empty or that is a server's error page is found without recording the circuit.
Status CheckParameterHead(const Circuit& circuit, const std::filesystem::path& file);

}  // namespace cuzk::filecoin
