#pragma once
// A job as the engine keeps it.

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/engine/job.h"
#include "core/engine/status.h"
#include "core/filecoin/partition.h"
#include "core/filecoin/types/request.h"
#include "core/groth16/proof.h"
#include "core/memory/budget.h"
#include "core/prover/device.h"

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
  int64_t row = 0;             ///< in the job store; 0: not stored
  uint64_t stored_bytes = 0;   ///< of a restored job's payload, which is read when its turn comes
};

/// A parsed request and the memory it is counted with. Shared by the job and by those who work on its partitions.
struct ParsedJob {
  filecoin::ParsedRequest request;
  memory::Reservation memory;

  const filecoin::Circuit& circuit() const { return *request.proof->circuit; }
};

struct PartitionRecord {
  PartitionState state = PartitionState::kPending;
  uint32_t device_errors = 0;             ///< attempts that a device gave back
  uint32_t wrong_proofs = 0;              ///< attempts whose proof did not verify
  const prover::Device* avoid = nullptr;  ///< try another one, if there is another
  const prover::Device* proved_on = nullptr;
  std::optional<groth16::Proof> proof;
  groth16::Proof::Bytes bytes{};  ///< of `proof`, as they will be returned
  double device_fraction = 0;     ///< of the device's work, while it is there
  std::optional<uint64_t> synthesis_ms, device_ms;
};

/// How a job is about to end, while that is written to the store.
struct Ending {
  JobState state{};
  std::string text;  ///< the proof, or the error
};

/// Guarded by the engine's mutex, but for the first group, which never changes.
struct Job {
  uint64_t key = 0;
  std::string id;
  filecoin::RequestFacts facts;
  Bytes32 digest{};
  TimePoint submitted{};
  uint64_t payload_bytes = 0;
  std::stop_source stop;  ///< requested once the job is over
  int64_t row = 0;        ///< in the job store; 0: not stored

  uint32_t losses = 0;  ///< times that it was in work when its device was lost or the process died
  JobState state = JobState::kQueued;
  Stage stage = Stage::kQueued;
  Priority priority = Priority::kNormal;    ///< the highest that a caller asked for
  std::optional<TimePoint> deadline;        ///< the latest of the callers'
  uint32_t callers = 1;                     ///< tickets that share this execution
  filecoin::VanillaRequest vanilla;         ///< until it is parsed
  uint64_t stored_bytes = 0;                ///< of the payload, while it lies in the store alone
  bool set_aside = false;                   ///< its memory was needed for others: first they, then it
  memory::Reservation memory;               ///< until it is parsed
  std::shared_ptr<const ParsedJob> parsed;  ///< from then until the end
  std::string circuit;                      ///< id, once known
  uint32_t partitions_total = 0;            ///< once parsed
  std::vector<PartitionRecord> partitions;
  bool loading = false;  ///< waits for parameters
  double load_fraction = 0;
  std::string worker, message;
  double fraction = 0;  ///< highest one told so far

  std::optional<TimePoint> started, finished, load_began;
  JobTimings timings;
  std::shared_ptr<const std::string> proof;
  std::string error;
  std::optional<Ending> ending;
  bool suspended = false;  ///< the engine stopped; the store keeps the job for the next start
  uint32_t handed = 0;     ///< callers who were given the result and of whom it is not known yet whether they got it
  bool fetched = false;    ///< somebody got the result
  bool reporting = false;  ///< it has ended, and the observer does not know yet
};

/// Nothing is to be done for it any more, although its end may not be told yet.
inline bool Over(const Job& job) { return IsFinal(job.state) || job.ending.has_value() || job.suspended; }

/// Of two jobs, whether x has the higher priority, or the same and was there first.
inline bool MoreUrgent(const Job& x, const Job& y) {
  return x.priority != y.priority ? x.priority > y.priority : x.key < y.key;
}

}  // namespace cuzk::engine
