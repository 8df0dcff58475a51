#pragma once
// Whether the process may have the threads that it needs: where the system refuses one in the middle of the start,
// neither we nor the libraries could say what is short.

#include <cstddef>

#include "core/base/status.h"

namespace cuzk::daemon {

/// How many threads more this process may have now, `most` at the most: tries, and ends them again.
size_t SpareThreads(size_t most);

/// RESOURCE_EXHAUSTED, with the limits that are in force, where `spare` are fewer than `needed`.
Status CheckThreads(size_t spare, size_t needed);

}  // namespace cuzk::daemon
