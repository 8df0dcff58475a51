#include "core/engine/stages/quarantine.h"

#include <algorithm>

#include "core/engine/stages/device.h"

namespace cuzk::engine {

Quarantine::Record& Quarantine::Of(const DeviceStage& device) {
  records_.resize(devices_.size());
  return records_[device.number()];
}

bool Quarantine::CanBeSpared(const DeviceStage& device) {
  return std::ranges::all_of(filecoin::Kinds(), [&](const filecoin::KindRow& row) {
    if (!Takes(c_.parts, device.number(), row.kind)) return true;
    return std::ranges::any_of(devices_, [&](const auto& other) ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return other.get() != &device && other->service().works() && Takes(c_.parts, other->number(), row.kind);
    });
  });
}

void Quarantine::GaveWrongProof(StateLock& lock, const prover::Device& device) {
  for (const auto& stage : devices_) {
    if (&stage->device() != &device) continue;
    const uint32_t wrong = ++Of(*stage).wrong_proofs;
    if (wrong >= kWrongProofs) Doubt(lock, *stage, StrCat(wrong, " of its proofs were wrong"));
  }
}

void Quarantine::GaveError(StateLock& lock, DeviceStage& device, const std::string& text) {
  const uint32_t errors = ++Of(device).errors;
  if (errors >= c_.options.quarantine_errors) Doubt(lock, device, StrCat(errors, " errors in a row, the last: ", text));
}

void Quarantine::Proved(const DeviceStage& device) { Of(device).errors = 0; }

void Quarantine::Doubt(StateLock& lock, DeviceStage& device, const std::string& why) {
  if (c_.options.quarantine_errors == 0 || device.service().now != DeviceService::kWorks) return;
  if (CanBeSpared(device)) {
    TakeOut(lock, device, why);
    return;
  }
  device.SetService(DeviceService::kDoubted, why);
  c_.reports.Warn(lock, StrCat("device ", LabelOf(device), " should be taken out of service: ", why,
                               "; it stays in service, because no other device works"));
}

void Quarantine::TakeOut(StateLock& lock, DeviceStage& device, const std::string& why) {
  c_.state.counters.quarantines_total++;
  c_.reports.Warn(lock, StrCat("device ", LabelOf(device), " is taken out of service: ", why,
                               "; `cuzkctl device enable` brings it back after a self-test"));
  device.TakeOut(lock, DeviceService::kQuarantined, why);
}

Status Quarantine::Disable(StateLock& lock, DeviceStage& device) {
  if (device.service().now == DeviceService::kLost) {
    return absl::FailedPreconditionError(StrCat("device ", LabelOf(device), " is lost"));
  }
  Of(device).testing = false;
  if (!device.service().works()) {  // the operator's word counts from now on
    device.SetService(DeviceService::kDisabled, "disabled by an operator");
    return absl::OkStatus();
  }
  if (!CanBeSpared(device)) {
    return absl::FailedPreconditionError(
        StrCat("device ", LabelOf(device), " is the last device that works; to stop proving, stop the daemon"));
  }
  c_.reports.Warn(lock, StrCat("device ", LabelOf(device), " is disabled by an operator"));
  device.TakeOut(lock, DeviceService::kDisabled, "disabled by an operator");
  return absl::OkStatus();
}

Status Quarantine::MayTest(const DeviceStage& device) {
  const std::string label = LabelOf(device);
  if (device.service().now == DeviceService::kLost) {
    return absl::FailedPreconditionError(StrCat("device ", label, " is lost; only a restart can bring it back"));
  }
  if (Of(device).testing) return absl::FailedPreconditionError(StrCat("device ", label, " is being tested"));
  if (!device.service().works() && device.in_hand() > 0) {
    return absl::FailedPreconditionError(
        StrCat("device ", label,
               " has not given back a partition that was taken from it; if it never does, only a restart can bring it "
               "back"));
  }
  return absl::OkStatus();
}

void Quarantine::BeginTest(const DeviceStage& device) { Of(device).testing = true; }

void Quarantine::EndTest(StateLock& lock, DeviceStage& device, const Status& passed) {
  if (!Of(device).testing || device.service().now == DeviceService::kLost) return;
  Of(device).testing = false;
  if (!passed.ok()) {
    c_.reports.Warn(lock, StrCat("device ", LabelOf(device), " stays ", DeviceServiceName(device.service().now), ": ",
                                 passed.message()));
    return;
  }
  Of(device) = Record{};
  if (device.service().works()) {
    device.SetService(DeviceService::kWorks, "");
    return;
  }
  device.BringBack(lock);
  c_.reports.Warn(lock, StrCat("device ", LabelOf(device), " has passed its self-test and gets work again"));
  // Another one may have gone on only because this one was out.
  for (const auto& other : devices_) {
    if (other->service().now == DeviceService::kDoubted && CanBeSpared(*other)) {
      TakeOut(lock, *other, std::string(other->service().why));
    }
  }
}

void Quarantine::Describe(const DeviceStage& device, DeviceStatus& out) {
  const Record& record = Of(device);
  out.wrong_proofs = record.wrong_proofs;
  out.errors_in_a_row = record.errors;
}

}  // namespace cuzk::engine
