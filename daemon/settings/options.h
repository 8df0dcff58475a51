#pragma once
// From settings to what the parts take.

#include <optional>

#include "core/base/log.h"
#include "core/base/settings/settings.h"
#include "core/engine/engine.h"
#include "daemon/devices/devices.h"
#include "daemon/settings/server_options.h"

namespace cuzk::daemon {

struct DaemonOptions {
  ServerOptions server;
  std::optional<Address> http;  ///< nothing: off
  engine::EngineOptions engine;
  LogOptions log;
  DeviceWishes devices;
  std::vector<KindsOfCard> device_kinds;
  std::chrono::milliseconds devices_wait{0};
  std::optional<std::chrono::milliseconds> device_stall;  ///< nothing: a device that stands still is not taken out
  unsigned pool_threads = 0;                              ///< 0: one per core
  uint64_t memory_budget = 0;        ///< without what gRPC may use for arriving messages (server.ingress_bytes)
  std::vector<std::string> preload;  ///< circuit ids, all known
  bool ready_before_preload = false;
  std::chrono::milliseconds evict_idle{0};  ///< 0: never for that reason
  std::chrono::milliseconds drain{0};
  bool cancel_abandoned = false;
  bool legacy_metrics = false;
};

/// InvalidArgument names the setting: what the reader of settings cannot see (addresses, circuits, ranges). Opens
/// nothing.
StatusOr<DaemonOptions> MakeOptions(const Settings& settings);

}  // namespace cuzk::daemon
