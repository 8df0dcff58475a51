#pragma once
// How many files the process may have open; each connection is one.

#include "core/base/log.h"

namespace cuzk::daemon {

/// Below so many the log warns.
inline constexpr uint64_t kFewOpenFiles = 4096;

/// Raises the soft limit (RLIMIT_NOFILE) to the hard one, and warns where that is not much.
void RaiseOpenFiles(Logger& log);

}  // namespace cuzk::daemon
