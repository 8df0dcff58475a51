#pragma once
// GET /status: the JSON that Curio's web page reads, with a few fields more.

#include <string>

#include "core/engine/jobs/status.h"

namespace cuzk::daemon {

/// Jobs that ended stay in the list for 30 seconds.
std::string StatusJson(const engine::EngineStatus& status);

}  // namespace cuzk::daemon
