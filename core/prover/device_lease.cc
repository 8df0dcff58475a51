#include "core/prover/device_lease.h"

namespace cuzk::prover {

DeviceLease::~DeviceLease() {
  if (region_) region_->Leave();
}

StatusOr<DeviceLease> ComputeRegion::Enter(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  const uint64_t ticket = next_ticket_++;
  if (changed_.wait(lock, stop, [&] { return now_serving_ == ticket; })) return DeviceLease(this);
  gone_.insert(ticket);
  return absl::CancelledError("cancelled while waiting for the device");
}

void ComputeRegion::Leave() {
  {
    std::lock_guard lock(mutex_);
    ++now_serving_;
    while (gone_.erase(now_serving_) > 0) ++now_serving_;
  }
  changed_.notify_all();
}

}  // namespace cuzk::prover
