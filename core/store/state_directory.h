#pragma once
// The folder of the job store: made, and refused where others can reach into it.

#include <filesystem>

#include "core/base/status.h"

namespace cuzk::store {

/// PERMISSION_DENIED, with the mode and what to do, if the folder exists and is open to others than its user and group:
/// a user who can write to it can take accepted jobs away. Changes nothing: the folder may belong to another program.
Status CheckStateDirectory(const std::filesystem::path& directory);

/// Makes the folder, with mode 0700, if it does not exist. PERMISSION_DENIED as CheckStateDirectory, and, with the
/// owner, for a folder that belongs neither to root nor to the process's user.
Status PrepareStateDirectory(const std::filesystem::path& directory);

}  // namespace cuzk::store
