#pragma once
// cuzkd as a program, apart from its main().

#include "daemon/app/daemon.h"

namespace cuzk::daemon {

/// Reads the command line, does what it asks for, serves until it is stopped. Returns the exit code.
int RunDaemon(int argc, char** argv, const DaemonSeams& seams);

}  // namespace cuzk::daemon
