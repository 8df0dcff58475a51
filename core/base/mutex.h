#pragma once
// The mutexes of the standard library and their condition variable with annotations for Clang's thread-safety analysis,
// which refuses code that touches an ABSL_GUARDED_BY member without its mutex. core and daemon use no other ones.

#include <condition_variable>
#include <mutex>
#include <optional>
#include <shared_mutex>
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
  /// False, without waiting, if another thread holds it.
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) { return mutex_.try_lock(); }
  /// Tells the analysis that the calling thread holds it, where it holds it under another name.
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() {}

 private:
  friend class Condition;
  std::mutex mutex_;
};

/// Holds a mutex from construction to destruction, except between Unlock and Lock.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() {
    if (held_) mutex_.Unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void Unlock() ABSL_UNLOCK_FUNCTION() {
    held_ = false;
    mutex_.Unlock();
  }
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    mutex_.Lock();
    held_ = true;
  }

 private:
  Mutex& mutex_;
  bool held_ = true;
};

/// A mutex that many readers hold at once.
class ABSL_LOCKABLE SharedMutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  void LockShared() ABSL_SHARED_LOCK_FUNCTION() { mutex_.lock_shared(); }
  void UnlockShared() ABSL_UNLOCK_FUNCTION() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

/// Holds it alone, as a writer, from construction to destruction.
class ABSL_SCOPED_LOCKABLE WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~WriterLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  SharedMutex& mutex_;
};

/// Holds it as one of its readers from construction to destruction.
class ABSL_SCOPED_LOCKABLE ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) ABSL_SHARED_LOCK_FUNCTION(mutex) : mutex_(mutex) { mutex_.LockShared(); }
  ~ReaderLock() ABSL_UNLOCK_FUNCTION() { mutex_.UnlockShared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mutex_;
};

/// A condition variable. Every wait may return early: call it in a loop that checks what is waited for.
class Condition {
 public:
  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

  void Wait(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { changed_.wait(mutex.mutex_); }
  /// Returns when it is notified, at `until` (nullopt: never), or when `stop` is requested, at once if it was. False
  /// once `until` has come.
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
