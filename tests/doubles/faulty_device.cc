#include "tests/doubles/faulty_device.h"

#include <optional>
#include <utility>

namespace cuzk::testing_support {

using prover::Pending;
using prover::ResidentParameters;

class FaultyDevice::FaultyPending final : public Pending {
 public:
  FaultyPending(FaultyDevice& device, std::unique_ptr<Pending> inner)
      : device_(device), inner_(std::move(inner)), timeline_(device.Timeline()) {}

  StatusOr<groth16::MsmResults> Finish() override {
    std::optional<FaultKind> corruption;
    CUZK_RETURN_IF_ERROR(device_.Strike(FaultPoint::kFinish, &corruption));
    StatusOr<groth16::MsmResults> results = inner_->Finish();
    if (results.ok() && corruption == FaultKind::kCorruptH) results->h += algebra::G1Generator();
    if (results.ok() && corruption == FaultKind::kCorruptB) results->b_g2 += algebra::G2Generator();
    return results;
  }
  const prover::Timeline& timeline() const override { return timeline_ ? *timeline_ : inner_->timeline(); }

 private:
  FaultyDevice& device_;
  std::unique_ptr<Pending> inner_;
  const std::optional<prover::Timeline> timeline_;
};

void FaultyDevice::set_timeline(prover::Timeline timeline) {
  std::lock_guard lock(mutex_);
  timeline_ = std::move(timeline);
}
std::optional<prover::Timeline> FaultyDevice::Timeline() const {
  std::lock_guard lock(mutex_);
  return timeline_;
}

void FaultyDevice::Add(const Fault& fault) {
  std::lock_guard lock(mutex_);
  faults_.push_back(fault);
}
void FaultyDevice::ClearFaults() {
  std::lock_guard lock(mutex_);
  faults_.clear();
}
void FaultyDevice::set_delay(std::chrono::milliseconds delay) {
  std::lock_guard lock(mutex_);
  delay_ = delay;
}
void FaultyDevice::Hold() {
  std::lock_guard lock(mutex_);
  held_ = true;
}
void FaultyDevice::Hang() {
  std::lock_guard lock(mutex_);
  hangs_ = true;
}
void FaultyDevice::IgnoreStops() {
  std::lock_guard lock(mutex_);
  ignores_stops_ = true;
}
void FaultyDevice::HoldLoads() {
  std::lock_guard lock(mutex_);
  loads_held_ = true;
}
void FaultyDevice::LetLoadThrough(uint64_t number) {
  std::lock_guard lock(mutex_);
  loads_through_.insert(number);
}
void FaultyDevice::ReleaseLoads() {
  {
    std::lock_guard lock(mutex_);
    loads_held_ = false;
  }
  changed_.notify_all();
}
void FaultyDevice::Release() {
  {
    std::lock_guard lock(mutex_);
    held_ = hangs_ = loads_held_ = false;
  }
  changed_.notify_all();
}
void FaultyDevice::Lose() {
  {
    std::lock_guard lock(mutex_);
    lost_ = true;
  }
  changed_.notify_all();
}
uint64_t FaultyDevice::calls(FaultPoint point) const {
  std::lock_guard lock(mutex_);
  return calls_[static_cast<size_t>(point)];
}
uint64_t FaultyDevice::waiting() const {
  std::lock_guard lock(mutex_);
  return waiting_;
}

uint64_t FaultyDevice::waiting_loads() const {
  std::lock_guard lock(mutex_);
  return waiting_loads_;
}

Status FaultyDevice::health() const {
  {
    std::lock_guard lock(mutex_);
    if (lost_) return absl::UnavailableError("the device is lost (injected)");
  }
  return inner_.health();
}

Status FaultyDevice::Strike(FaultPoint point, std::optional<FaultKind>* corruption) {
  std::lock_guard lock(mutex_);
  const uint64_t call = calls_[static_cast<size_t>(point)]++;
  if (lost_) return absl::UnavailableError("the device is lost (injected)");
  for (const Fault& fault : faults_) {
    if (fault.point != point || call < fault.first || call - fault.first >= fault.count) continue;
    switch (fault.kind) {
      case FaultKind::kOutOfMemory:
        return absl::ResourceExhaustedError("device memory is short (injected)");
      case FaultKind::kLost:
        lost_ = true;
        changed_.notify_all();
        return absl::UnavailableError("the device is lost (injected)");
      case FaultKind::kInternal:
        return absl::InternalError("the device failed (injected)");
      case FaultKind::kCorruptH:
      case FaultKind::kCorruptB:
        if (corruption) *corruption = fault.kind;
        return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

Status FaultyDevice::WaitInside(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  ++waiting_;
  changed_.wait(lock, [&] { return !hangs_; });
  bool released = changed_.wait(lock, stop, [&] { return !held_ || lost_; });
  if (released && delay_.count() > 0) changed_.wait_for(lock, stop, delay_, [&] { return lost_; });
  --waiting_;
  if (stop.stop_requested() && !ignores_stops_)
    return absl::CancelledError("cancelled inside the device (injected delay)");
  if (lost_) return absl::UnavailableError("the device is lost (injected)");
  return absl::OkStatus();
}

Status FaultyDevice::WaitToLoad(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  const uint64_t number = loads_++;
  ++waiting_loads_;
  changed_.wait(lock, stop, [&] { return !loads_held_ || lost_ || loads_through_.contains(number); });
  --waiting_loads_;
  return stop.stop_requested() ? absl::CancelledError("cancelled before loading (injected delay)") : absl::OkStatus();
}

StatusOr<std::shared_ptr<const ResidentParameters>> FaultyDevice::Load(
    std::shared_ptr<const groth16::ParameterFile> file, std::shared_ptr<const r1cs::Shape> shape,
    const prover::LoadOptions& options) {
  CUZK_RETURN_IF_ERROR(WaitToLoad(options.stop));
  CUZK_RETURN_IF_ERROR(Strike(FaultPoint::kLoad, nullptr));
  return inner_.Load(std::move(file), std::move(shape), options);
}

StatusOr<std::unique_ptr<Pending>> FaultyDevice::Start(std::shared_ptr<const ResidentParameters> parameters,
                                                       r1cs::Witness witness, const prover::StartOptions& options) {
  CUZK_RETURN_IF_ERROR(Strike(FaultPoint::kStart, nullptr));
  prover::StartOptions passed_on = options;
  {
    std::lock_guard lock(mutex_);
    if (ignores_stops_) passed_on.stop = {};
  }
  CUZK_ASSIGN_OR_RETURN(std::unique_ptr<Pending> inner,
                        inner_.Start(std::move(parameters), std::move(witness), passed_on));
  CUZK_RETURN_IF_ERROR(WaitInside(options.stop));
  return std::make_unique<FaultyPending>(*this, std::move(inner));
}

}  // namespace cuzk::testing_support
