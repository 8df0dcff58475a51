#pragma once
// What the job store was asked and has not answered yet: a disk that hangs shows here, without waiting for it.

#include <chrono>
#include <mutex>
#include <optional>
#include <set>

#include "core/engine/job.h"

namespace cuzk::engine {

/// For so long the store may take for an answer. After that no job is accepted until it has answered.
inline constexpr std::chrono::seconds kStorePatience{10};

/// Thread-safe.
class StoreCalls {
 public:
  /// One question, from its construction to its destruction.
  class Call {
   public:
    explicit Call(StoreCalls& calls) : calls_(calls) {
      std::lock_guard lock(calls_.mutex_);
      began_ = calls_.open_.insert(std::chrono::steady_clock::now());
    }
    ~Call() {
      std::lock_guard lock(calls_.mutex_);
      calls_.open_.erase(began_);
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    StoreCalls& calls_;
    std::multiset<TimePoint>::iterator began_;
  };

  /// When the oldest that is open began; by the steady clock.
  std::optional<TimePoint> Oldest() const {
    std::lock_guard lock(mutex_);
    return open_.empty() ? std::nullopt : std::optional(*open_.begin());
  }

 private:
  mutable std::mutex mutex_;
  std::multiset<TimePoint> open_;  // guarded by mutex_
};

}  // namespace cuzk::engine
