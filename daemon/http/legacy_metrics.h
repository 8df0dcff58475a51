#pragma once
// Series under names that an earlier daemon used and that OpenMetrics forbids beside ours; printed only when the
// setting legacy_metrics asks for them.

#include <string>

#include "core/engine/jobs/status.h"

namespace cuzk::daemon {

std::string LegacyMetricsText(const engine::EngineStatus& status);

}  // namespace cuzk::daemon
