#pragma once
// What `cuzkd --check-config` looks at beyond the settings themselves.

#include <filesystem>
#include <string>
#include <vector>

#include "core/memory/detect.h"
#include "daemon/devices/devices.h"
#include "daemon/settings/options.h"

namespace cuzk::daemon {

struct ConfigCheck {
  Status status;                   ///< what would keep the daemon from starting for good
  std::vector<std::string> notes;  ///< what stands in the way now, or may be different when it starts
};

/// What is wrong with params.directory: absent, a file, not readable, without a parameter file. Empty if nothing is.
std::string ParameterNote(const std::filesystem::path& folder);

/// What of params.preload could not be loaded now, with the reason: files that cannot be opened or that their size and
/// head show not to be the published ones. Reads a few bytes of each.
std::vector<std::string> PreloadNotes(const DaemonOptions& options);

/// That memory.budget is more than the machine, or the control group, has, with both numbers; empty if it is not. The
/// machine may be another one when the daemon starts, and the limit of a control group may be raised while it runs.
std::string BudgetNote(const DaemonOptions& options, const memory::MemoryLimits& limits);

/// What the settings that fit themselves to the machine come to here, as lines of comment to stand behind PrintConfig.
std::string FittedSettings(const DaemonOptions& options, const DeviceSources& cards);

/// Changes nothing and opens nothing for others: a running daemon does not notice.
ConfigCheck CheckConfig(const DaemonOptions& options, const DeviceSources& cards);

}  // namespace cuzk::daemon
