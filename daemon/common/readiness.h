#pragma once
// Whether jobs are taken, apart from what the engine itself says.

#include <mutex>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace cuzk::daemon {

/// Thread-safe. Begins with "the daemon is starting".
class Readiness {
 public:
  /// Empty: jobs are taken.
  void Set(std::string_view why_not) {
    std::lock_guard lock(mutex_);
    why_not_ = why_not;
  }
  /// UNAVAILABLE with the reason while they are not.
  Status Check() const {
    std::lock_guard lock(mutex_);
    return why_not_.empty() ? absl::OkStatus() : absl::UnavailableError(why_not_);
  }

 private:
  mutable std::mutex mutex_;
  std::string why_not_ = "the daemon is starting";  // guarded by mutex_
};

}  // namespace cuzk::daemon
