#include "core/engine/jobs/job.h"

#include "core/circuit/bad_sectors.h"
#include "core/engine/jobs/job_record.h"
#include "core/engine/jobs/status.h"

namespace cuzk::engine {

std::string_view JobStateName(JobState state) {
  static constexpr std::string_view kNames[] = {"queued", "running", "completed", "failed", "cancelled"};
  return kNames[static_cast<size_t>(state)];
}

JobState JobStateOf(store::RowState state) { return static_cast<JobState>(state); }

store::RowState RowStateOf(JobState state) {
  return IsFinal(state) ? static_cast<store::RowState>(state) : store::RowState::kUnfinished;
}

std::string_view StageName(Stage stage) {
  static constexpr std::string_view kNames[kStageCount] = {
      "queued", "parsing", "loading-parameters", "synthesis", "waiting-device", "device", "finishing", "verifying"};
  return kNames[static_cast<size_t>(stage)];
}

Outcome FailureOf(const Status& error, std::string_view where) {
  std::vector<uint64_t> bad_sectors = circuit::BadSectorsOf(error);
  std::string text = bad_sectors.empty() ? StrCat(where, error.message()) : StrCat(error.message());
  const bool input = absl::IsInvalidArgument(error) || absl::IsUnimplemented(error);
  return {JobState::kFailed, std::move(text), std::move(bad_sectors), input ? JobFailure::kInput : JobFailure::kOther};
}

std::string_view JobFailureName(JobFailure failure) {
  static constexpr std::string_view kNames[] = {"", "input", "parameters"};
  return kNames[static_cast<size_t>(failure)];
}

std::string_view PartitionStateName(PartitionState state) {
  static constexpr std::string_view kNames[] = {"pending", "synthesizing", "synth_done", "gpu", "done", "failed"};
  return kNames[static_cast<size_t>(state)];
}

std::string_view DeviceServiceName(DeviceService service) {
  static constexpr std::string_view kNames[] = {"works", "doubted", "quarantined", "disabled", "lost"};
  return kNames[static_cast<size_t>(service)];
}

}  // namespace cuzk::engine
