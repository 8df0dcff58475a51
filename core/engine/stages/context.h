#pragma once
// What every station works with.

#include "core/engine/jobs/options.h"
#include "core/engine/reports/reports.h"
#include "core/engine/stages/job_control.h"
#include "core/engine/state/circuits.h"
#include "core/engine/state/parameter_source.h"
#include "core/engine/state/proof_work.h"
#include "core/engine/state/state.h"
#include "core/store/job_store.h"

namespace cuzk::engine {

class Quarantine;

/// All must outlive the stations.
struct StageContext {
  EngineState& state;
  const EngineOptions& options;
  const EngineParts& parts;
  ProofWork& work;
  ParameterSource& parameters;
  Reports& reports;
  CircuitTable& circuits;
  JobControl& jobs;
  Quarantine& quarantine;
  store::JobStore* store = nullptr;  ///< may be null
  uint64_t request_limit = 0;        ///< of the budget, for requests and their parsed forms

  TimePoint Now() const { return parts.clock->Now(); }
};

}  // namespace cuzk::engine
