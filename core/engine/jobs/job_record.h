#pragma once
// A job as the engine keeps it.

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/engine/jobs/guard.h"
#include "core/engine/jobs/job.h"
#include "core/engine/jobs/lifecycle.h"
#include "core/engine/jobs/status.h"
#include "core/filecoin/partition.h"
#include "core/filecoin/types/request.h"
#include "core/groth16/proof.h"
#include "core/memory/budget.h"
#include "core/prover/device/device.h"
#include "core/store/history.h"

namespace cuzk::engine {

/// A request that intake found acceptable.
struct Submission {
  std::string job_id;
  filecoin::RequestFacts facts;
  Bytes32 digest{};  ///< of everything that decides the answer
  Priority priority = Priority::kNormal;
  std::optional<TimePoint> deadline;
  filecoin::VanillaRequest vanilla;
  memory::Reservation memory;  ///< the request's bytes and those of its parsed form
  uint64_t payload_bytes = 0;  ///< of the request
  store::Subject subject;      ///< of the request
  int64_t row = 0;             ///< in the job store; 0: not stored
  uint64_t stored_bytes = 0;   ///< of a restored job's payload, which is read when its turn comes
  uint32_t losses = 0;         ///< of a restored job
};

/// A parsed request and the memory it is counted with. Shared by the job and by the tasks of its partitions.
struct ParsedJob {
  filecoin::ParsedRequest request;
  memory::Reservation memory;

  const filecoin::Circuit& circuit() const { return *request.proof->circuit; }
};

struct PartitionRecord {
  PartitionState state = PartitionState::kPending;
  uint32_t device_errors = 0;             ///< attempts that a device gave back
  uint32_t wrong_proofs = 0;              ///< attempts whose proof did not verify
  const prover::Device* avoid = nullptr;  ///< another device is tried first, if there is one
  const prover::Device* proved_on = nullptr;
  const prover::Device* wrong_on = nullptr;  ///< whose proof was wrong, until another attempt shows whose fault it was
  std::optional<groth16::Proof> proof;
  groth16::Proof::Bytes bytes{};  ///< of `proof`, as they will be returned
  double device_fraction = 0;     ///< of the device's work, while it is there
  bool computing = false;         ///< while it is there: it no longer waits for the compute region
  std::optional<uint64_t> synthesis_ms, device_ms;
};

/// How a job ends: a final state, and the proof (kCompleted) or the error.
struct Outcome {
  JobState state{};
  std::string text;
  std::vector<uint64_t> bad_sectors;  ///< kFailed: those of a PoSt that are to blame
  JobFailure failure = JobFailure::kOther;
};
/// The failure of a job that an error of its input ends; `where` goes before the text, unless the text names sectors.
Outcome FailureOf(const Status& error, std::string_view where = "");

struct Job {
  // Set before other threads know of the job.
  uint64_t key = 0;
  std::string id;
  filecoin::RequestFacts facts;
  Bytes32 digest{};
  TimePoint submitted{};
  uint64_t payload_bytes = 0;
  store::Subject subject;
  int64_t row = 0;        ///< in the job store; 0: not stored
  std::stop_source stop;  ///< requested once the job is over

  JobLife life ABSL_GUARDED_BY(kEngineState);
  uint32_t losses ABSL_GUARDED_BY(kEngineState) = 0;  ///< how often it was in work when its device or the process died
  Priority priority ABSL_GUARDED_BY(kEngineState) = Priority::kNormal;  ///< the highest that a caller asked for
  std::optional<TimePoint> deadline ABSL_GUARDED_BY(kEngineState);      ///< the latest that a caller set
  uint32_t callers ABSL_GUARDED_BY(kEngineState) = 1;                   ///< tickets that share this execution

  // The request: its bytes until it is parsed, then its parsed form until the end.
  filecoin::VanillaRequest vanilla ABSL_GUARDED_BY(kEngineState);
  uint64_t stored_bytes ABSL_GUARDED_BY(kEngineState) = 0;  ///< of the payload, while it is in the store alone
  memory::Reservation memory ABSL_GUARDED_BY(kEngineState);
  std::shared_ptr<const ParsedJob> parsed ABSL_GUARDED_BY(kEngineState);
  std::string circuit ABSL_GUARDED_BY(kEngineState);            ///< id, once known
  uint32_t partitions_total ABSL_GUARDED_BY(kEngineState) = 0;  ///< once parsed
  std::vector<PartitionRecord> partitions ABSL_GUARDED_BY(kEngineState);

  // What is shown of it.
  Stage last_stage ABSL_GUARDED_BY(kEngineState) = Stage::kQueued;  ///< in which it was when it was over
  double load_fraction ABSL_GUARDED_BY(kEngineState) = 0;
  std::string worker ABSL_GUARDED_BY(kEngineState), message ABSL_GUARDED_BY(kEngineState);
  double fraction ABSL_GUARDED_BY(kEngineState) = 0;  ///< the highest that was shown
  std::optional<TimePoint> started ABSL_GUARDED_BY(kEngineState), finished ABSL_GUARDED_BY(kEngineState),
      load_began ABSL_GUARDED_BY(kEngineState);
  JobTimings timings ABSL_GUARDED_BY(kEngineState);
  store::JobTimes spent ABSL_GUARDED_BY(kEngineState);  ///< on the stages that are not in `timings`

  // The end.
  Outcome recording ABSL_GUARDED_BY(kEngineState);  ///< while kRecording: how it will end
  std::optional<TimePoint> recording_since ABSL_GUARDED_BY(kEngineState);
  JobState outcome ABSL_GUARDED_BY(kEngineState) = JobState::kQueued;  ///< final once the life has ended
  std::shared_ptr<const std::string> proof ABSL_GUARDED_BY(kEngineState);
  std::string error ABSL_GUARDED_BY(kEngineState);
  std::vector<uint64_t> bad_sectors ABSL_GUARDED_BY(kEngineState);
  JobFailure failure ABSL_GUARDED_BY(kEngineState) = JobFailure::kOther;
  uint32_t deliveries ABSL_GUARDED_BY(kEngineState) = 0;  ///< while kDelivering: callers who were given the result
};

/// Nothing more is to be done for it, although its end may not be known to its callers yet.
inline bool Over(const Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { return IsOver(job.life.now()); }

/// The state as callers see it.
inline JobState StateOf(const Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) {
  if (HasEnded(job.life.now())) return job.outcome;
  return job.started ? JobState::kRunning : JobState::kQueued;
}

/// Of two jobs, whether x has the higher priority, or the same and was submitted first.
inline bool MoreUrgent(const Job& x, const Job& y) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) {
  return x.priority != y.priority ? x.priority > y.priority : x.key < y.key;
}

/// How many partitions wait to be admitted.
inline uint32_t PendingPartitions(const Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) {
  uint32_t pending = 0;
  for (const PartitionRecord& partition : job.partitions) pending += partition.state == PartitionState::kPending;
  return pending;
}

}  // namespace cuzk::engine
