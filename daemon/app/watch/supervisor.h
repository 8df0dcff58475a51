#pragma once
// What systemd is told, through sd_notify(3). Without a NOTIFY_SOCKET every call does nothing.
// The socket is made once, so that a daemon without free descriptors still answers the watchdog.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/mutex.h"
#include "daemon/sockets/descriptor.h"

namespace cuzk::daemon {

/// Thread-safe.
class Supervisor {
 public:
  Supervisor();

  void Ready();
  /// RELOADING=1 with the monotonic time that systemd compares; Ready() ends it.
  void Reloading();
  void Stopping();
  /// The line in `systemctl status`; the same text again is not sent.
  void Say(std::string_view status);
  /// Start or stop may take so much longer from now.
  void Extend(std::chrono::microseconds time);
  void Ping();

  /// The longest time between two Pings, if systemd expects them: WATCHDOG_USEC, when it is meant for this process.
  static std::optional<std::chrono::microseconds> WatchdogInterval();

 private:
  void Send(std::string_view state);

  Descriptor socket_;
  Mutex mutex_;
  std::string said_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cuzk::daemon
