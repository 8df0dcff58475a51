#pragma once
// Whether what params.preload names can be held at once.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/engine/jobs/status.h"

namespace cuzk::daemon {

/// ResourceExhausted if one of `circuits` is on no device any more after all were loaded, with what each takes (`bytes`
/// of device memory, as it was seen once it was loaded) and what the devices have.
Status PreloadedAreHeld(const std::vector<std::string>& circuits, const std::map<std::string, uint64_t>& bytes,
                        const engine::EngineStatus& status);

}  // namespace cuzk::daemon
