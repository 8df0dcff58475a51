#pragma once
// Whether jobs are taken, apart from what the engine itself says.

#include <string>
#include <string_view>

#include "core/base/mutex.h"
#include "core/base/status.h"

namespace cuzk::daemon {

/// Thread-safe. Begins with "the daemon is starting".
class Readiness {
 public:
  /// Empty: jobs are taken.
  void Set(std::string_view why_not) {
    MutexLock lock(mutex_);
    why_not_ = why_not;
  }
  /// UNAVAILABLE with the reason while they are not.
  Status Check() const {
    MutexLock lock(mutex_);
    return why_not_.empty() ? absl::OkStatus() : absl::UnavailableError(why_not_);
  }

 private:
  mutable Mutex mutex_;
  std::string why_not_ ABSL_GUARDED_BY(mutex_) = "the daemon is starting";
};

}  // namespace cuzk::daemon
