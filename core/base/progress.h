#pragma once
#include <cstdint>
#include <functional>

namespace cuzk {

/// Told now and then how much of the work is done. Called from one thread at a time; must return quickly. May be empty.
using Progress = std::function<void(uint64_t done, uint64_t total)>;

}  // namespace cuzk
