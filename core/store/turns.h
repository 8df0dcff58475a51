#pragma once
// One operation of the store at a time, with a limit to how long a caller waits for its turn.

#include <chrono>

#include "core/base/mutex.h"

namespace cuzk::store {

/// A lock that a caller may stop waiting for. Thread-safe.
class ABSL_LOCKABLE Turns {
 public:
  void Take() ABSL_EXCLUSIVE_LOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    MutexLock lock(mutex_);
    while (taken_) free_.Wait(mutex_);
    taken_ = true;
  }
  /// False, without the turn, once the patience has ended.
  bool TakeWithin(std::chrono::milliseconds patience)
      ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const TimePoint until = std::chrono::steady_clock::now() + patience;
    MutexLock lock(mutex_);
    while (taken_ && free_.WaitUntil(mutex_, until)) {
    }
    return !taken_ && (taken_ = true);
  }
  void End() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    MutexLock lock(mutex_);
    taken_ = false;
    free_.NotifyOne();
  }

 private:
  Mutex mutex_;
  Condition free_;
  bool taken_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace cuzk::store
