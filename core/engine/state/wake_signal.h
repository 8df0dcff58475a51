#pragma once
// Wakes one loop from anywhere. Its lock is a leaf: Notify may be called while holding any other.

#include "core/base/mutex.h"

namespace cuzk::engine {

class WakeSignal {
 public:
  /// The next Wait returns at once.
  void Notify() {
    MutexLock lock(mutex_);
    raised_ = true;
    changed_.NotifyOne();
  }
  /// Until Notify was called since the last Wait, or `until` passes.
  void Wait(TimePoint until) {
    MutexLock lock(mutex_);
    while (!raised_ && changed_.WaitUntil(mutex_, until)) {
    }
    raised_ = false;
  }

 private:
  Mutex mutex_;
  Condition changed_;
  bool raised_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace cuzk::engine
