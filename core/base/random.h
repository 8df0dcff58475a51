#pragma once
#include <cstdint>
#include <span>

namespace cuzk {

/// Fills from the operating system's generator; aborts if there is none, because nothing is safe without randomness.
void FillRandom(std::span<uint8_t> out);

}  // namespace cuzk
