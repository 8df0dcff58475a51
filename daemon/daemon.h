#pragma once
// The running daemon: all parts, in the order in which they depend on each other.

#include <memory>

#include "core/base/settings.h"
#include "core/base/status.h"
#include "daemon/options.h"

namespace cuzk::daemon {

class Daemon {
 public:
  /// Everything up to listening sockets; parameters to preload are loaded before it returns. Errors: Unavailable, no
  /// device; FailedPrecondition or PermissionDenied, an address or a folder; InvalidArgument, a setting.
  static StatusOr<std::unique_ptr<Daemon>> Start(const Settings& settings, const DaemonOptions& options);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  Logger& log();
  /// Refuses what is yet to come, lets jobs end until the drain deadline, answers their callers. Blocks. Any thread.
  void Drain();
  /// Ends Drain() and every waiting call soon. Any thread.
  void StopNow();

 private:
  struct Parts;
  explicit Daemon(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace cuzk::daemon
