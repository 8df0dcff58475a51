#pragma once
// The end of a process that the system refuses memory or a thread at a place that cannot report it: in a library, or
// in the middle of an allocation.

namespace cuzk::daemon {

/// From now on such an end says on stderr what is short, with the limits in force, and has exit code 75, so that
/// systemd starts the daemon again. Any other uncaught exception ends the process as before. Called once.
void TellWhatIsShort();

}  // namespace cuzk::daemon
