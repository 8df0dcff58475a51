#pragma once
// The time in which this process ran. While it is stopped (SIGSTOP, a freezer, a suspended machine), the clock stands
// still, so that none of its deadlines pass.

#include <algorithm>
#include <chrono>

#include "core/base/mutex.h"

namespace cuzk::daemon {

/// Thread-safe. Must be asked about once a second: of a pause between two questions, kLongestPause at most counts.
class AwakeClock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kLongestPause{5};

  /// `now` is of the steady clock; a time that may be compared with others of this clock alone.
  Time Now(Time now = std::chrono::steady_clock::now()) {
    MutexLock lock(mutex_);
    if (now > seen_) {
      awake_ += std::min<Time::duration>(now - seen_, kLongestPause);
      seen_ = now;
    }
    return awake_;
  }

 private:
  Mutex mutex_;
  Time seen_ ABSL_GUARDED_BY(mutex_) = std::chrono::steady_clock::now();
  Time awake_ ABSL_GUARDED_BY(mutex_) = seen_;
};

}  // namespace cuzk::daemon
