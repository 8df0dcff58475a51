#include "core/engine/jobs/progress.h"

#include <algorithm>

namespace cuzk::engine {
namespace {

/// The stage of a partition that is on its way.
std::optional<Stage> StageOf(const PartitionRecord& partition) {
  switch (partition.state) {
    case PartitionState::kSynthesizing:
      return Stage::kSynthesis;
    case PartitionState::kSynthDone:
      return Stage::kWaitingDevice;
    case PartitionState::kGpu:
      return partition.computing ? Stage::kDevice : Stage::kWaitingDevice;
    case PartitionState::kPending:
    case PartitionState::kDone:
    case PartitionState::kFailed:
      break;
  }
  return std::nullopt;
}

}  // namespace

Stage StageOf(const Job& job) {
  const Life life = job.life.now();
  if (IsOver(life)) return job.last_stage;
  if (life == Life::kWaiting || life == Life::kSetAside) return Stage::kQueued;
  if (life == Life::kParsing) return Stage::kParsing;
  std::optional<Stage> furthest;
  bool all_proved = !job.partitions.empty(), finishing = false;
  for (const PartitionRecord& partition : job.partitions) {
    const std::optional<Stage> stage = StageOf(partition);
    if (stage && (!furthest || *stage > *furthest)) furthest = stage;
    all_proved = all_proved && partition.proof.has_value();
    finishing = finishing || (partition.device_fraction >= 1 && !partition.proof);
  }
  if (all_proved) return Stage::kVerifying;
  if (furthest) return *furthest;
  if (life == Life::kLoading) return Stage::kLoadingParameters;
  return finishing ? Stage::kFinishing : Stage::kQueued;
}

}  // namespace cuzk::engine
