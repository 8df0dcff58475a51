#pragma once
#include <cstdint>
#include <span>

namespace cuzk {

/// Fills from the operating system's generator; aborts if there is none (nothing may go on without randomness).
void FillRandom(std::span<uint8_t> out);

}  // namespace cuzk
