#include "core/prover/device/device_claims.h"

#include <algorithm>

namespace cuzk::prover {

DeviceClaims::Claim::~Claim() {
  if (claims_ == nullptr) return;
  MutexLock lock(claims_->mutex_);
  claims_->claims_.erase(at_);
}

DeviceClaims::Claim DeviceClaims::Add(const Bytes& bytes) {
  MutexLock lock(mutex_);
  return Claim(this, claims_.insert(claims_.end(), bytes));
}

DeviceClaims::Bytes DeviceClaims::Most() const {
  MutexLock lock(mutex_);
  Bytes most;
  for (const Bytes& bytes : claims_) {
    most.workspace = std::max(most.workspace, bytes.workspace);
    most.witness = std::max(most.witness, bytes.witness);
  }
  return most;
}

}  // namespace cuzk::prover
