#pragma once
// std::mutex and its condition variable with annotations for Clang's thread-safety analysis, which refuses code that
// touches an ABSL_GUARDED_BY member without its mutex. `./dev check` runs that analysis over core and daemon.

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "core/base/clock.h"

namespace cuzk {

class Condition;

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

/// Holds a mutex from construction to destruction.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// A condition variable. Every wait may return early: call it in a loop that checks what is waited for.
class Condition {
 public:
  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

  void Wait(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { changed_.wait(mutex.mutex_); }
  /// Returns when it is notified, at `until` (nullopt: never), or when `stop` is requested. False once `until` has
  /// come.
  bool WaitUntil(Mutex& mutex, std::optional<TimePoint> until, const std::stop_token& stop = {})
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    // The first call of the predicate is before the wait, any other one after a notification.
    auto notified = [called = false]() mutable { return std::exchange(called, true); };
    if (!until) {
      changed_.wait(mutex.mutex_, stop, notified);
      return true;
    }
    changed_.wait_until(mutex.mutex_, stop, *until, notified);
    return std::chrono::steady_clock::now() < *until;
  }

 private:
  std::condition_variable_any changed_;
};

}  // namespace cuzk
