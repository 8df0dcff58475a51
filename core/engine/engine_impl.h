#pragma once
// The inside of Engine: the order of the members is the order of making; they go the other way round.

#include <memory>
#include <optional>

#include "core/engine/engine.h"
#include "core/engine/events.h"
#include "core/engine/parameter_source.h"
#include "core/engine/pipeline.h"
#include "core/engine/proof_work.h"
#include "core/engine/timeline.h"
#include "core/store/job_store.h"

namespace cuzk::engine {

struct Engine::Impl {
  Impl(EngineOptions engine_options, EngineParts engine_parts, std::unique_ptr<store::JobStore> job_store);

  /// Takes up what the store kept.
  Status Restore();
  /// Writes the submission to the store, if there is one.
  Status Store(Submission& submission);

  /// UNAVAILABLE, with why, once nothing is accepted any more. With the board locked.
  Status Working() const;
  StatusOr<JobTicket> Submit(ProofRequest request);
  /// With the board locked: a ticket for an equal job (JobTable::FindEqual), none if a job may be added, or why not.
  StatusOr<std::optional<JobTicket>> JoinOrRefuse(const Submission& submission);
  StatusOr<JobResult> AwaitJob(BoardLock& lock, std::shared_ptr<Job> job, std::optional<TimePoint> until,
                               std::stop_token stop);

  const EngineOptions options;
  const EngineParts parts;
  const TimePoint started;
  uint32_t max_unfinished_jobs;  // guarded by the board's mutex
  FilecoinWork own_work;
  FileParameters own_parameters;
  ProofWork* const work;
  ParameterSource* const parameters;
  EventHub events;
  TimelineLog timeline;
  std::unique_ptr<store::JobStore> store;  ///< null: nothing survives a restart
  Pipeline pipeline;
};

}  // namespace cuzk::engine
