#pragma once
// The loaders of a device: parameters for the jobs that wait for them, the most urgent job first. Their queue is the
// job table: a circuit is loaded for as long as a job with partitions to prove needs it, and a job that ends leaves no
// entry behind.

#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "core/engine/stages/context.h"
#include "core/engine/stages/device.h"

namespace cuzk::engine {

class LoadStage {
 public:
  LoadStage(const StageContext& context, DeviceStage& device) : c_(context), device_(device) {}
  /// RESOURCE_EXHAUSTED: the system gives no thread.
  Status Start();

 private:
  /// What a loader takes on: any circuit; only one whose parameters are on the device and unused, which takes no time;
  /// only those that a job of at least that priority waits for. All but the first have loaders of their own so that
  /// they never wait behind gigabytes of others.
  enum class Loads { kAny, kAtHand, kHigh, kCritical };
  void Run(Loads loads);
  /// The job to load for; null: none. Nothing is loaded twice at once.
  Job* Next(Loads loads) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  void Load(const filecoin::Circuit& circuit, Priority priority, std::stop_source stop);
  StatusOr<Parameters> Fetch(const filecoin::Circuit& circuit, Priority priority, std::stop_token stop);
  std::shared_ptr<const groth16::Verifier> VerifierOf(const filecoin::Circuit& circuit, const Parameters& parameters);
  void Loaded(StateLock& lock, CircuitRecord& record, const Parameters& parameters,
              std::shared_ptr<const groth16::Verifier> verifier) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  void Failed(StateLock& lock, CircuitRecord& record, const Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  LoadedParameters& Mine(CircuitRecord& record) const { return record.devices[device_.number()]; }
  /// The jobs of the circuit that wait for its parameters.
  std::vector<std::shared_ptr<Job>> Waiting(const filecoin::Circuit& circuit) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

  const StageContext& c_;
  DeviceStage& device_;
  std::vector<std::jthread> threads_;  // last: joined first
};

}  // namespace cuzk::engine
