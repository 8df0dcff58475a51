#pragma once
#include <cstdint>
#include <functional>

namespace cuzk {

/// Called from time to time with the work that is done. One thread at a time; must return quickly. May be empty.
using Progress = std::function<void(uint64_t done, uint64_t total)>;

}  // namespace cuzk
