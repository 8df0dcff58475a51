#pragma once
// One device with its queue and workers: while one worker computes, another copies its witness in.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/engine/schedule/policy.h"
#include "core/engine/stages/context.h"
#include "core/engine/stages/tasks.h"
#include "core/memory/pinned_pool.h"
#include "core/prover/device/device_times.h"

namespace cuzk::engine {

class FinishStage;

class DeviceStage {
 public:
  /// `number` is the device's among those of the engine.
  DeviceStage(const StageContext& context, unsigned number, prover::Device* device, FinishStage& finish);
  /// Begins the workers; their marks in the store are numbered from `first_mark` on.
  void Start(unsigned first_mark);
  unsigned workers() const { return worker_count_; }

  unsigned number() const { return number_; }
  prover::Device& device() const { return *device_; }
  /// Of the leases for this device; has a lock of its own.
  memory::PinnedPool& pool() { return pool_; }

  /// A witness waits for a worker. If the device is lost, the partition is proved again.
  void Push(StateLock& lock, DeviceTask task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// A partition was admitted for this device, and will be pushed; or will not, after all.
  void Promise() ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { promised_++; }
  void Unpromise() ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { promised_--; }
  /// Partitions that wait in the queue or were promised.
  size_t load() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { return queue_.size() + promised_; }
  /// Why the device is lost; OK while it is not.
  const Status& lost() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { return lost_; }
  /// The device does not work any more: what waits for it is proved elsewhere. If it was the last one, every job stops.
  void Lose(StateLock& lock, const Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Takes a look at the device's memory, for status. Outside the mutex: the device may take its time.
  void LookAtMemory(Actor actor);
  /// Everything but the pool.
  DeviceStatus Describe(TimePoint now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

 private:
  struct Worker {
    std::shared_ptr<Job> job;  // null: idle
    uint32_t partition = 0;
    TimePoint since{};
    Duration busy{};  // of finished partitions
  };
  using Queue = std::deque<DeviceTask>;

  /// Whether the worker takes CRITICAL partitions alone, which so never wait until others are done with theirs.
  bool IsReserved(unsigned worker) const { return worker + kReservedWorkers >= worker_count_; }
  Queue::iterator Next(unsigned worker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  bool GoesBefore(const DeviceTask& x, const DeviceTask& y) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  DeviceTask Take(Queue::iterator next) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  void Run(unsigned worker, unsigned mark);
  void Begin(unsigned worker, const DeviceTask& task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  void Prove(unsigned worker, DeviceTask task);
  /// What a device made of a partition.
  struct Computation {
    groth16::MsmResults results;
    prover::DeviceTimes times;
  };
  StatusOr<Computation> Compute(unsigned worker, DeviceTask& task);
  /// `kernels`: nothing if the partition was not proved.
  void Computed(unsigned worker, const PartitionTask& task, Duration took, std::optional<Duration> kernels);
  void Failed(PartitionTask task, const Status& status);
  void LostDuring(const PartitionTask& task, const Status& why);

  const StageContext& c_;
  const unsigned number_;
  prover::Device* const device_;
  FinishStage& finish_;
  const unsigned worker_count_;
  memory::PinnedPool pool_;
  Queue queue_ ABSL_GUARDED_BY(kEngineState);                      // in the order of arrival; Next says who is next
  unsigned promised_ ABSL_GUARDED_BY(kEngineState) = 0;            // admitted for this device, not yet in the queue
  Status lost_ ABSL_GUARDED_BY(kEngineState);                      // not OK once the device is lost
  std::set<uint64_t> jobs_at_loss_ ABSL_GUARDED_BY(kEngineState);  // keys of the jobs that were on it then
  prover::MemoryInfo memory_ ABSL_GUARDED_BY(kEngineState);        // as last seen
  TimePoint memory_seen_ ABSL_GUARDED_BY(kEngineState){};
  std::vector<Worker> workers_ ABSL_GUARDED_BY(kEngineState);
  uint64_t partitions_total_ ABSL_GUARDED_BY(kEngineState) = 0;
  Duration kernels_ ABSL_GUARDED_BY(kEngineState){};                               // of ended partitions
  uint64_t copied_to_device_ ABSL_GUARDED_BY(kEngineState) = 0;                    // bytes of their witnesses
  std::map<std::string_view, Duration> stage_time_ ABSL_GUARDED_BY(kEngineState);  // of ended partitions
  std::vector<std::jthread> threads_;                                              // last: joined first
};

}  // namespace cuzk::engine
