#pragma once
// The inside of Engine.

#include <memory>
#include <optional>

#include "core/engine/engine.h"
#include "core/engine/jobs/queue_order.h"
#include "core/engine/pipeline.h"
#include "core/engine/reports/events.h"
#include "core/engine/reports/timeline.h"
#include "core/engine/schedule/policy.h"
#include "core/engine/state/parameter_source.h"
#include "core/engine/state/proof_work.h"
#include "core/engine/urgent_store.h"
#include "core/store/job_store.h"

namespace cuzk::engine {

/// The job as a snapshot shows it; `place` is that in the queue (PlacesOf), 0 if it does not wait.
JobStatus StatusOfJob(const Reports& reports, Job& job, TimePoint now, uint32_t place)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

struct Engine::Impl {
  Impl(EngineOptions engine_options, EngineParts engine_parts, std::unique_ptr<store::JobStore> job_store);

  ~Impl();

  /// Takes up what the store kept.
  Status Restore();
  /// The totals and the last errors; without a history that can be read, it is kept in memory.
  void RestoreHistory(StateLock& lock, TimePoint now, int64_t wall_ms) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  void RestoreUnfinished(StateLock& lock, const store::StoredJob& stored, TimePoint submitted)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Writes the submission to the store, if there is one. A request with a reserve (HasReserve) that cannot be stored
  /// is proved without: its row stays 0.
  Status Store(Submission& submission, uint64_t most_bytes);

  /// UNAVAILABLE, with why, once nothing is accepted any more.
  Status Working() ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// UNAVAILABLE if the store does not answer.
  Status StoreAnswers() const { return store == nullptr ? absl::OkStatus() : store->health().Answers(); }
  /// When the store was asked for the oldest operation that has not ended, or the recorder for the oldest record that
  /// is not written.
  std::optional<TimePoint> StoreAsked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Whether the job is in the store, or there is none.
  bool IsStored(const Job& job) const { return store == nullptr || job.row != 0; }
  IntakeLimits LimitsOf(filecoin::Kind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  StatusOr<JobTicket> Submit(ProofRequest request);
  /// Whether a device proves the kind: UNIMPLEMENTED if none is meant to, UNAVAILABLE if none of these works.
  Status IsTaken(filecoin::Kind kind);
  /// FAILED_PRECONDITION without parameters for the circuit; RESOURCE_EXHAUSTED if it can never fit the budget, for
  /// which the first call for a circuit records it: a second for the largest.
  Status MayProve(const filecoin::Circuit& circuit);
  /// A ticket for an equal job (JobTable::FindEqual), nothing if a job may be added, or why not.
  StatusOr<std::optional<JobTicket>> JoinOrRefuse(const Submission& submission)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// The job as a list shows it; `place` as StatusOfJob takes it.
  ListedJob Listed(Job& job, uint32_t place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  void ListUnfinished(const JobQuery& query, const std::optional<ServicePlace>& after, JobList* list)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Adds ended jobs that the store has, the latest first. Not under the engine's mutex.
  Status AddFromStore(const store::HistoryFilter& filter, std::optional<store::HistoryPlace> after, size_t most,
                      std::vector<store::EndedJob>* ended);
  StatusOr<JobResult> AwaitJob(StateLock& lock, std::shared_ptr<Job> job, std::optional<TimePoint> until,
                               const std::stop_token& stop) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Loads the parameters on the devices that are not lost.
  Status LoadEverywhere(const filecoin::Circuit& circuit, const std::vector<DeviceStage*>& devices,
                        const std::stop_token& stop);

  TimePoint Now() const { return parts.clock->Now(); }
  EngineState& state() { return pipeline.state(); }

  // Constructed in this order and destroyed in reverse, so that each may use those above it.
  const EngineOptions options;
  const EngineParts parts;
  const TimePoint started;  ///< by the machine's clock
  FilecoinWork own_work;
  FileParameters own_parameters;
  ProofWork* const work;
  ParameterSource* const parameters;
  EventHub events;
  TimelineLog timeline;
  std::unique_ptr<store::JobStore> store;     ///< null: nothing survives a restart
  std::unique_ptr<UrgentStore> urgent_store;  ///< null without a store
  Pipeline pipeline;
};

}  // namespace cuzk::engine
