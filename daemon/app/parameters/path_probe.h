#pragma once
// Whether clients are served, found out on the way that clients take: a connection and a call at each listener.

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "core/base/mutex.h"
#include "core/base/status.h"

namespace cuzk::daemon {

/// Thread-safe; tries on a thread of its own.
class PathProbe {
 public:
  /// `attempt` tries every listener once; an error says which one failed, and why. Called on the probe's thread.
  using Attempt = std::function<Status()>;

  /// RESOURCE_EXHAUSTED: the system gives no thread.
  static StatusOr<std::unique_ptr<PathProbe>> Start(Attempt attempt,
                                                    std::chrono::milliseconds pause = std::chrono::seconds(3));

  /// The last error once two attempts in a row have failed; OK before the first attempt, and after each that succeeds.
  Status Check() const;

 private:
  explicit PathProbe(Attempt attempt) : attempt_(std::move(attempt)) {}
  void Run(const std::stop_token& stop, std::chrono::milliseconds pause);

  const Attempt attempt_;
  mutable Mutex mutex_;
  Condition wake_;
  Status found_ ABSL_GUARDED_BY(mutex_);
  bool before_ ABSL_GUARDED_BY(mutex_) = true;  // whether the attempt before the last one succeeded
  std::jthread thread_;                         // last: ends before the rest
};

}  // namespace cuzk::daemon
