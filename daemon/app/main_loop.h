#pragma once
// Runs a daemon from its start to its exit code: signals, systemd, preloading, draining.

#include "core/base/settings/settings.h"
#include "daemon/app/daemon.h"
#include "daemon/common/exit_code.h"

namespace cuzk::daemon {

/// Starts the daemon and blocks until it has ended. The first SIGTERM or SIGINT drains, the second stops at once;
/// SIGHUP reads `sources` again. The exit code is 70 once no device is left. Errors are those that keep the daemon from
/// starting.
StatusOr<DaemonExit> RunMainLoop(const SettingSources& sources, const Settings& settings, const DaemonOptions& options,
                                 const DaemonSeams& seams);

}  // namespace cuzk::daemon
