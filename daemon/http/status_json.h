#pragma once
// GET /status: the JSON that Curio's web page reads, with a few fields more.

#include <string>

#include <vector>

#include "core/engine/jobs/status.h"
#include "daemon/common/card_reading.h"

namespace cuzk::daemon {

/// What the page shows beside the engine's status.
struct MachineFacts {
  std::string host;                ///< the machine's name
  std::vector<CardReading> cards;  ///< of the devices that have one
};

/// Jobs that ended stay in the list for 30 seconds.
std::string StatusJson(const engine::EngineStatus& status, const MachineFacts& machine = {});

}  // namespace cuzk::daemon
