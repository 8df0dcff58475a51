#pragma once
// Whether the process may have the threads that it needs, asked before they are made: libraries cannot say what is
// short when the system refuses one in the middle of the start.

#include <cstddef>

#include "core/base/status.h"

namespace cuzk::daemon {

/// How many threads more this process may have now, `most` at the most: tries, and ends them again.
size_t SpareThreads(size_t most);

/// RESOURCE_EXHAUSTED, with the limits that are in force, where `spare` are fewer than `needed`.
Status CheckThreads(size_t spare, size_t needed);

/// RESOURCE_EXHAUSTED, with the limit, where so many threads do not fit in the address space that the process may have.
Status CheckAddressSpace(size_t threads);

}  // namespace cuzk::daemon
