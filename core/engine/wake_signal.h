#pragma once
// Wakes one loop from anywhere. Its lock is a leaf: Notify may be called while holding any other.

#include <condition_variable>
#include <mutex>

#include "core/engine/job.h"

namespace cuzk::engine {

class WakeSignal {
 public:
  /// The next Wait returns at once.
  void Notify() {
    {
      std::lock_guard lock(mutex_);
      raised_ = true;
    }
    changed_.notify_one();
  }
  /// Until Notify was called since the last Wait, or `until` passes.
  void Wait(TimePoint until) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, until, [this] { return raised_; });
    raised_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool raised_ = false;  // guarded by mutex_
};

}  // namespace cuzk::engine
