#pragma once
#include "gpu/runtime/status.h"

namespace cuzk::gpu {

/// Number of a card, as the CUDA runtime counts.
enum class DeviceId : int {};

/// Makes a card current for this thread while it lives. Neither copied nor moved.
class DeviceGuard {
 public:
  explicit DeviceGuard(DeviceId device) {
    status_ = CUZK_CUDA_STATUS(cudaGetDevice(&previous_));
    if (status_.ok() && previous_ != static_cast<int>(device)) {
      status_ = CUZK_CUDA_STATUS(cudaSetDevice(static_cast<int>(device)));
      changed_ = status_.ok();
    }
  }
  ~DeviceGuard() {
    if (changed_) Ignore(cudaSetDevice(previous_));
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  /// Whether the card is current.
  const Status& status() const { return status_; }

 private:
  int previous_ = 0;
  bool changed_ = false;
  Status status_;
};

}  // namespace cuzk::gpu
