#pragma once
// Which devices get work: those that are faulty are taken out, so that their partitions go elsewhere, and an operator
// takes out and brings back whichever he wants. The last device that works, for one of the kinds that it proves, is
// never taken out: every proof is verified before it is returned, so a doubtful device is better than none.

#include <memory>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/engine/jobs/guard.h"
#include "core/engine/state/state.h"
#include "core/prover/device/device.h"

namespace cuzk::engine {

class DeviceStage;
struct StageContext;

class Quarantine {
 public:
  /// So many wrong proofs of a device are no accident.
  static constexpr uint32_t kWrongProofs = 2;

  Quarantine(const StageContext& context, const std::vector<std::unique_ptr<DeviceStage>>& devices)
      : c_(context), devices_(devices) {}

  // What is seen of a device.
  void GaveWrongProof(StateLock& lock, const prover::Device& device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  void GaveError(StateLock& lock, DeviceStage& device, const std::string& text)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  void Proved(const DeviceStage& device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Anything else that speaks against it. Takes it out unless it is the last that works. No effect on a device that
  /// gets no work, or where quarantine is off.
  void Doubt(StateLock& lock, DeviceStage& device, const std::string& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

  /// Takes it out for an operator. FAILED_PRECONDITION if it is lost or the last that works.
  Status Disable(StateLock& lock, DeviceStage& device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Whether a device that gets no work may be tested in order to bring it back. FAILED_PRECONDITION: it is lost, is
  /// being tested, or still has a partition inside.
  Status MayTest(const DeviceStage& device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// The test has begun; it has ended, and with OK the device gets work again.
  void BeginTest(const DeviceStage& device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  void EndTest(StateLock& lock, DeviceStage& device, const Status& passed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Fills in what speaks against it.
  void Describe(const DeviceStage& device, DeviceStatus& out) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

 private:
  struct Record {
    uint32_t wrong_proofs = 0, errors = 0;  // errors: in a row
    bool testing = false;
  };
  /// Whether another device works for each kind that this one proves.
  bool CanBeSpared(const DeviceStage& device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  Record& Of(const DeviceStage& device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  void TakeOut(StateLock& lock, DeviceStage& device, const std::string& why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

  const StageContext& c_;
  const std::vector<std::unique_ptr<DeviceStage>>& devices_;
  std::vector<Record> records_ ABSL_GUARDED_BY(kEngineState);  // by the number of the device
};

}  // namespace cuzk::engine
