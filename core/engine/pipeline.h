#pragma once
// The way of a job through the engine, put together: parsed on a synthesis thread, its partitions admitted one by one
// as memory allows, synthesized into leases, proved by the workers of a device, assembled and verified by the finisher,
// recorded. What each station does is in stages/; who owns what between them is in tasks.h.

#include <memory>
#include <vector>

#include "core/engine/admission.h"
#include "core/engine/reports/reports.h"
#include "core/engine/stages/context.h"
#include "core/engine/stages/device.h"
#include "core/engine/stages/finish.h"
#include "core/engine/stages/job_control.h"
#include "core/engine/stages/load.h"
#include "core/engine/stages/parse.h"
#include "core/engine/stages/quarantine.h"
#include "core/engine/stages/record.h"
#include "core/engine/stages/synthesis.h"
#include "core/engine/state/circuits.h"
#include "core/engine/state/state.h"

namespace cuzk::engine {

/// What the pipeline works with. All must outlive it.
struct PipelineParts {
  const EngineOptions& options;
  const EngineParts& engine;
  ProofWork& work;
  ParameterSource& parameters;
  EventHub& events;
  TimelineLog& timeline;
  store::JobStore* store = nullptr;  ///< may be null
  uint64_t request_limit = 0;        ///< of the budget, for requests and their parsed forms
};

/// Thread-safe. The destructor stops every unfinished job and joins.
class Pipeline {
 public:
  explicit Pipeline(const PipelineParts& parts);
  ~Pipeline();
  /// Begins its threads. RESOURCE_EXHAUSTED: the system gives no thread.
  Status Start();

  EngineState& state() { return state_; }
  Reports& reports() { return reports_; }
  CircuitTable& circuits() { return circuits_; }
  JobControl& jobs() { return jobs_; }
  Quarantine& quarantine() { return quarantine_; }
  const std::vector<std::unique_ptr<DeviceStage>>& devices() const { return devices_; }
  unsigned synthesis_threads() const { return synthesis_.threads(); }
  unsigned idle_synthesis_threads() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { return synthesis_.idle(); }
  /// When the recorder was asked for the oldest change that is not written yet.
  std::optional<TimePoint> OldestRecord() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

 private:
  // Constructed in this order and destroyed in reverse, so that each may use those above it.
  EngineState state_;
  Reports reports_;
  CircuitTable circuits_;
  std::unique_ptr<RecordStage> records_;  // null: nothing is stored
  JobControl jobs_;
  Quarantine quarantine_;
  const StageContext context_;
  FinishStage finish_;
  std::vector<std::unique_ptr<DeviceStage>> devices_;
  std::vector<std::unique_ptr<LoadStage>> loads_;
  ParseStage parse_;
  SynthesisStage synthesis_;
  Admission admission_;
};

}  // namespace cuzk::engine
