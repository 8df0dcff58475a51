#pragma once
// The running daemon: all parts, in the order in which they depend on each other.

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "core/base/log.h"
#include "core/base/settings/settings.h"
#include "core/base/status.h"
#include "daemon/devices/devices.h"
#include "daemon/settings/options.h"

namespace cuzk::daemon {

/// For tests alone; the defaults do nothing.
struct DaemonSeams {
  /// Where cards are looked for, instead of this machine.
  std::optional<DeviceSources> sources;
  /// Called with the devices that were picked, before the engine sees them.
  std::function<void(DeviceChoice&)> devices;
  engine::EngineSeams engine;
};

class Daemon {
 public:
  /// Waits a moment of a start that waits for a card, of which `why` tells what is wrong; false once the start is to
  /// end.
  using Pause = std::function<bool(const std::string& why)>;

  /// Everything up to listening sockets. Takes jobs at once if there is nothing to preload or it need not be waited
  /// for; until then it answers that it is starting. Errors: Unavailable, no device within devices.wait; Cancelled, by
  /// `pause`; FailedPrecondition or PermissionDenied, an address, a folder, a key; InvalidArgument, a setting or a
  /// certificate.
  static StatusOr<std::unique_ptr<Daemon>> Start(const Settings& settings, const DaemonOptions& options,
                                                 const Pause& pause, const DaemonSeams& seams = {});
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  Logger& log();
  engine::EngineStatus Snapshot() const;

  /// Loads the parameters that params.preload names and takes jobs then. Blocks. Cancelled or Unavailable once Drain or
  /// StopNow was called; other errors as of the parameters. Any thread, once.
  Status Preload();

  /// The settings were read again: puts into force what may change, with certificates, and logs what would need a
  /// restart. An error, of reading or of a certificate, leaves everything as it was. One thread at a time.
  Status Reload(const StatusOr<Settings>& next);

  /// Drops parameters that were idle for longer than params.evict_idle, ends calls whose client does not read, and has
  /// health say what is true now; to be called about once a second. One thread.
  void Tend(const engine::EngineStatus& status);

  /// Blocks until the last device was lost: Unavailable with the reason. OK when `stop` is requested first.
  Status AwaitLoss(std::stop_token stop) const;
  /// Takes no job any more; health says so for good.
  void Refuse(std::string_view why);
  /// Refuses what is yet to come, lets jobs end until the drain deadline, answers their callers. Blocks. Any thread.
  void Drain();
  /// Ends Drain(), Preload() and every waiting call soon. Any thread.
  void StopNow();

 private:
  struct Parts;
  explicit Daemon(std::unique_ptr<Parts> parts);
  void Accept();
  std::unique_ptr<Parts> parts_;
};

}  // namespace cuzk::daemon
