#pragma once
// The progress and cancellation of one multi-scalar multiplication, shared by its threads.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stop_token>

#include "core/base/mutex.h"
#include "core/base/progress.h"

namespace cuzk::algebra {

/// Counts units of work; only proportions matter. Any number of threads.
class MsmMeter {
 public:
  /// Units of a term with scalar 1 and of any other.
  static constexpr uint64_t kOne = 16, kTerm = 256;

  MsmMeter(uint64_t total, Progress progress, std::stop_token stop)
      : total_(total), progress_(std::move(progress)), stop_(std::move(stop)) {}

  bool stopped() const { return stop_.stop_requested(); }
  /// Counts work that is done. False if the sum was cancelled.
  bool Add(uint64_t units) {
    done_.fetch_add(units, std::memory_order_relaxed);
    Report();
    return !stopped();
  }
  /// All work up to `units` is done: what was rounded off or never needed doing.
  void Reach(uint64_t units) {
    uint64_t seen = done_.load(std::memory_order_relaxed);
    while (seen < units && !done_.compare_exchange_weak(seen, units, std::memory_order_relaxed)) {
    }
    Report();
  }

 private:
  void Report() {
    if (!progress_) return;
    // If another thread is reporting, it or the next call reports this work too.
    if (!mutex_.TryLock()) return;
    progress_(std::min(done_.load(std::memory_order_relaxed), total_), total_);
    mutex_.Unlock();
  }

  const uint64_t total_;
  const Progress progress_;
  const std::stop_token stop_;
  std::atomic<uint64_t> done_ = 0;
  Mutex mutex_;  // held while progress_ runs
};

}  // namespace cuzk::algebra
