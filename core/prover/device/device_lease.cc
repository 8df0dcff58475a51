#include "core/prover/device/device_lease.h"

namespace cuzk::prover {

DeviceLease::~DeviceLease() {
  if (region_) region_->Leave();
}

std::list<ComputeRegion::Waiter>::iterator ComputeRegion::Next() {
  auto best = waiting_.begin();
  for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
    if (it->passes >= kMostPasses) return it;
    if (it->urgency > best->urgency) best = it;
  }
  return best;
}

StatusOr<DeviceLease> ComputeRegion::Enter(std::stop_token stop, unsigned urgency) {
  MutexLock lock(mutex_);
  auto self = waiting_.insert(waiting_.end(), Waiter{urgency});
  while ((taken_ || Next() != self) && !stop.stop_requested()) changed_.WaitUntil(mutex_, std::nullopt, stop);
  if (taken_ || Next() != self) {
    waiting_.erase(self);
    // It may have been this one's turn.
    lock.Unlock();
    changed_.NotifyAll();
    return absl::CancelledError("cancelled while waiting for the device");
  }
  for (auto it = waiting_.begin(); it != self; ++it) it->passes++;
  waiting_.erase(self);
  taken_ = true;
  return DeviceLease(this);
}

size_t ComputeRegion::waiting() const {
  MutexLock lock(mutex_);
  return waiting_.size();
}

void ComputeRegion::Leave() {
  {
    MutexLock lock(mutex_);
    taken_ = false;
  }
  changed_.NotifyAll();
}

}  // namespace cuzk::prover
