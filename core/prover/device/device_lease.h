#pragma once
// The mutex of a device's compute region: only one of its workers computes at a time.

#include <list>
#include <stop_token>
#include <utility>

#include "core/base/mutex.h"
#include "core/base/status.h"

namespace cuzk::prover {

class ComputeRegion;

/// Proof that the holder is alone in the compute region; functions that enqueue kernels take it by reference.
/// Move-only; leaves the region when destroyed. Must not outlive its region.
class DeviceLease {
 public:
  DeviceLease(DeviceLease&& other) noexcept : region_(std::exchange(other.region_, nullptr)) {}
  DeviceLease& operator=(DeviceLease&& other) noexcept {
    std::swap(region_, other.region_);
    return *this;
  }
  ~DeviceLease();

 private:
  friend class ComputeRegion;
  explicit DeviceLease(ComputeRegion* region) : region_(region) {}
  ComputeRegion* region_;
};

/// One per device. Of the waiting workers the most urgent enters first, and among equals the one that has waited
/// longest; but a worker is passed at most kMostPasses times.
class ComputeRegion {
 public:
  static constexpr unsigned kMostPasses = 16;

  /// Blocks until the region is free and it is the caller's turn. Cancelled if `stop` is requested first.
  StatusOr<DeviceLease> Enter(std::stop_token stop, unsigned urgency = 0);
  /// The number of callers that wait.
  size_t waiting() const;

 private:
  friend class DeviceLease;
  struct Waiter {
    unsigned urgency = 0;
    unsigned passes = 0;  // entries of others that asked later
  };
  void Leave();
  /// The waiter whose turn it is; there must be at least one.
  std::list<Waiter>::iterator Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  Condition changed_;
  bool taken_ ABSL_GUARDED_BY(mutex_) = false;
  std::list<Waiter> waiting_ ABSL_GUARDED_BY(mutex_);  // in the order of asking
};

}  // namespace cuzk::prover
