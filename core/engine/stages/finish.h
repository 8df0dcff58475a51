#pragma once
// The station where sums become proofs and proofs are verified. No caller sees a proof that was not verified.

#include <deque>
#include <string>
#include <thread>

#include "core/engine/stages/context.h"
#include "core/engine/stages/tasks.h"

namespace cuzk::engine {

class FinishStage {
 public:
  explicit FinishStage(const StageContext& context) : c_(context) {}
  /// RESOURCE_EXHAUSTED: the system gives no thread.
  Status Start();
  /// Wakes the thread when the engine is stopping.
  void Stop() { wake_.NotifyAll(); }
  void Push(FinishTask task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

 private:
  void Run();
  void FinishPartition(FinishTask finish);
  /// Keeps the proof of a partition. True if it was the job's last.
  bool Keep(Job& job, uint32_t index, const groth16::Proof& proof, const groth16::Proof::Bytes& bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  void FinishJob(const PartitionTask& task);
  void Conclude(Job& job, const StatusOr<std::vector<size_t>>& wrong, std::string proof);
  void BlameDevices(StateLock& lock, Job& job, const std::vector<size_t>& wrong)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  bool ProveAgain(StateLock& lock, Job& job, uint32_t index, const std::string& what)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

  const StageContext& c_;
  Condition wake_;
  std::deque<FinishTask> tasks_ ABSL_GUARDED_BY(kEngineState);
  std::jthread thread_;  // last: joined first
};

}  // namespace cuzk::engine
