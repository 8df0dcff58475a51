#pragma once
// The narrow mutex of a device: of its workers, one at a time is in the compute region.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <stop_token>
#include <utility>

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

/// One per device. Enters in the order of asking.
class ComputeRegion {
 public:
  /// Blocks until the region is free. Cancelled if `stop` is asked for first.
  StatusOr<DeviceLease> Enter(std::stop_token stop);

 private:
  friend class DeviceLease;
  void Leave();

  std::mutex mutex_;
  std::condition_variable_any changed_;
  uint64_t next_ticket_ = 0;  // guarded by mutex_
  uint64_t now_serving_ = 0;  // guarded by mutex_
  std::set<uint64_t> gone_;   // tickets given up while waiting; guarded by mutex_
};

}  // namespace cuzk::prover
