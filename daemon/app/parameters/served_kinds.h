#pragma once
// Which kinds of proofs this daemon could make now, for the health services of their names.

#include <filesystem>
#include <set>
#include <string>

#include "core/engine/jobs/status.h"

namespace cuzk::daemon {

/// Kinds, by their names in commands, of which the parameters of at least one sector size are loaded or lie in the
/// folder, while at least one device is not lost. Looks for files, which may hang with their disk.
std::set<std::string, std::less<>> ServedKinds(const engine::EngineStatus& status,
                                               const std::filesystem::path& parameter_directory);

}  // namespace cuzk::daemon
