#pragma once
// The end of the process where the system refuses memory or a thread and the code cannot return an error: in a
// library, or during an allocation.

namespace cuzk::daemon {

/// From now on such an end says on stderr what is short, with the limits in force, and has exit code 75, so that
/// systemd starts the daemon again. Any other uncaught exception ends the process as before. Called once.
void TellWhatIsShort();

}  // namespace cuzk::daemon
