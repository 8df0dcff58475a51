#pragma once
// The life of a daemon from its start to its exit code: signals, systemd, preloading, draining.

#include "core/base/settings.h"
#include "daemon/app/daemon.h"
#include "daemon/common/exit_code.h"

namespace cuzk::daemon {

/// Blocks until the daemon has ended. The first SIGTERM or SIGINT drains, the second stops at once; SIGHUP reads
/// `sources` again. 70 once no device is left. Errors: what keeps it from starting.
StatusOr<DaemonExit> Serve(const SettingSources& sources, const Settings& settings, const DaemonOptions& options,
                           const DaemonSeams& seams);

}  // namespace cuzk::daemon
