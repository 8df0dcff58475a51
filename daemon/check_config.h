#pragma once
// What `cuzkd --check-config` looks at beyond the settings themselves.

#include <string>
#include <vector>

#include "daemon/options.h"

namespace cuzk::daemon {

struct ConfigCheck {
  Status status;                   ///< what would keep the daemon from starting for good
  std::vector<std::string> notes;  ///< what stands in the way now, or may be different when it starts
};

/// Changes nothing and opens nothing for others: a running daemon does not notice.
ConfigCheck CheckConfig(const DaemonOptions& options);

}  // namespace cuzk::daemon
