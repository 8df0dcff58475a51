#pragma once
// The devices that the daemon starts with, and the wait for cards that are there and cannot be used yet.

#include <chrono>
#include <functional>
#include <string>

#include "core/base/log.h"
#include "core/base/status.h"
#include "daemon/devices/devices.h"

namespace cuzk::daemon {

/// How a wait for devices looks from outside; one thread calls them.
struct DeviceWait {
  std::chrono::milliseconds limit{0};
  std::function<std::chrono::steady_clock::time_point()> now;
  /// One look at the machine.
  std::function<DeviceSearch()> look;
  /// Called before each pause with what is wrong, from the first look that found nothing. An error ends the wait.
  std::function<Status(const std::string& why)> tell;
  /// Waits a moment; false once the daemon is to stop.
  std::function<bool()> pause;
};

/// Looks until devices are found, or until nothing more can come, or for `limit`. Cancelled if the daemon is to stop;
/// Unavailable with the last look's reason, which tells how long was waited.
StatusOr<DeviceChoice> AwaitDevices(const DeviceWait& wait);

}  // namespace cuzk::daemon
