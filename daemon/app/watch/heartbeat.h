#pragma once
// Looks at the engine about once a second and tells systemd that it is alive, what it does and how long that may take.

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "core/base/log.h"
#include "core/base/status.h"
#include "core/engine/jobs/status.h"
#include "daemon/app/watch/liveness.h"
#include "daemon/app/watch/supervisor.h"

namespace cuzk::daemon {

class Heartbeat {
 public:
  enum class Stage { kLoading, kServing, kDraining };
  struct Parts {
    Supervisor* supervisor = nullptr;
    Logger* log = nullptr;
    std::function<engine::EngineStatus()> snapshot;
    std::optional<std::chrono::microseconds> watchdog;  ///< Supervisor::WatchdogInterval()
  };

  /// Begins with kLoading. What the parts name must outlive it. RESOURCE_EXHAUSTED: the system gives no thread.
  static StatusOr<std::unique_ptr<Heartbeat>> Start(Parts parts);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  /// Any thread.
  void Enter(Stage stage) { stage_ = stage; }

 private:
  explicit Heartbeat(Parts parts) : parts_(std::move(parts)) {}
  void Run(std::stop_token stop);
  void Look(engine::TimePoint now);
  void Watch(const engine::EngineStatus& status, engine::TimePoint now);
  /// Asks for more time for start and stop, as long as there is progress.
  void Extend(const std::string& said, engine::TimePoint now);

  const Parts parts_;
  std::atomic<Stage> stage_ = Stage::kLoading;
  // The thread's own.
  std::optional<Liveness> liveness_;
  engine::TimePoint pinged_{}, extended_{};
  std::string stuck_, extended_for_;
  std::jthread thread_;  // last: ends before the rest
};

/// One line for people: what is loaded, run, waited for.
std::string StatusLine(const engine::EngineStatus& status, Heartbeat::Stage stage);

}  // namespace cuzk::daemon
