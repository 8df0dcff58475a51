#pragma once
// The mode of the folder of the job store.

#include <filesystem>

#include "core/base/log.h"
#include "core/base/status.h"

namespace cuzk::daemon {

/// Takes the rights of others from a folder that is this user's own, is open to them by its mode, as after `mkdir` with
/// a usual umask, and is empty or holds a job store; says so in the log. Leaves everything else as it is, for the store
/// to judge.
Status SecureStateDirectory(const std::filesystem::path& directory, Logger& log);

}  // namespace cuzk::daemon
