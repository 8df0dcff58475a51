#pragma once
// One device with its queue and workers: while one worker computes, another copies its witness in.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/engine/schedule/policy.h"
#include "core/engine/stages/context.h"
#include "core/engine/stages/device_meter.h"
#include "core/engine/stages/device_queue.h"
#include "core/engine/stages/tasks.h"
#include "core/memory/pinned_pool.h"

namespace cuzk::engine {

class FinishStage;

class DeviceStage {
 public:
  /// `number` is the device's among those of the engine.
  DeviceStage(const StageContext& context, unsigned number, prover::Device* device, FinishStage& finish);
  /// Begins the workers; their marks in the store are numbered from `first_mark` on. RESOURCE_EXHAUSTED: the system
  /// gives no thread.
  Status Start(unsigned first_mark);
  unsigned workers() const { return worker_count_; }

  unsigned number() const { return number_; }
  prover::Device& device() const { return *device_; }
  /// Of the leases for this device; has a lock of its own.
  memory::PinnedPool& pool() { return pool_; }
  DeviceQueue& queue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { return queue_; }
  const DeviceMeter& meter() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { return meter_; }

  /// A witness waits for a worker. If the device gets no work any more, the partition is proved again.
  void Push(StateLock& lock, DeviceTask task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  const ServiceState& service() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { return service_; }
  /// Partitions that workers have, even those that were taken back from them.
  size_t in_hand() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Between states in both of which it works, or in neither.
  void SetService(DeviceService service, std::string why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// The device does not work any more, for good: what waits for it is proved elsewhere. If no other one works, every
  /// job stops.
  void Lose(StateLock& lock, const Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// It gets no work until it is brought back; what waits for it and what it has in hand is proved elsewhere.
  void TakeOut(StateLock& lock, DeviceService as, std::string why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  void BringBack(StateLock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Takes a look at the device's memory, for status. Outside the mutex: the device may take its time.
  void LookAtMemory(Actor actor);
  /// Everything but the pool.
  DeviceStatus Describe(TimePoint now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

 private:
  struct Worker {
    std::shared_ptr<Job> job;  // null: idle
    uint32_t partition = 0;
    TimePoint since{};
    Duration busy{};          // of finished partitions
    std::stop_source stop;    // of the partition
    bool given_up = false;    // the device gets no work any more: memory that is short does not wait for it for ever
    bool taken_back = false;  // the partition is proved elsewhere: whatever becomes of it here does not count
  };

  void Run(unsigned worker, unsigned mark);
  void Begin(unsigned worker, const DeviceTask& task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  void Prove(unsigned worker, DeviceTask task);
  /// What a device made of a partition.
  struct Computation {
    groth16::MsmResults results;
    prover::DeviceTimes times;
  };
  StatusOr<Computation> Compute(unsigned worker, DeviceTask& task);
  /// `times`: nothing if the partition was not proved. False if the partition was taken back.
  bool Computed(unsigned worker, const PartitionTask& task, Duration took, std::optional<prover::DeviceTimes> times);
  void Failed(PartitionTask task, const Status& status);
  void LostDuring(const PartitionTask& task, const Status& why);
  void Withdraw(StateLock& lock, DeviceService as, std::string why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

  const StageContext& c_;
  const unsigned number_;
  prover::Device* const device_;
  FinishStage& finish_;
  const unsigned worker_count_;
  memory::PinnedPool pool_;
  DeviceQueue queue_;
  DeviceMeter meter_;
  ServiceState service_ ABSL_GUARDED_BY(kEngineState);
  std::set<uint64_t> jobs_at_loss_ ABSL_GUARDED_BY(kEngineState);  // keys of the jobs that were on it then
  std::vector<Worker> workers_ ABSL_GUARDED_BY(kEngineState);
  std::vector<std::jthread> threads_;  // last: joined first
};

/// For people: "0 (NVIDIA H200, GPU-...)".
std::string LabelOf(const DeviceStage& device);

}  // namespace cuzk::engine
