#pragma once
// A snapshot of the engine. Taking it calls no device and takes no lock that is held while proving.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/engine/jobs/job.h"
#include "core/memory/budget.h"
#include "core/memory/pinned_pool.h"
#include "core/prover/parameters/parameter_store.h"

namespace cuzk::engine {

/// Where a partition is, as /status names it.
enum class PartitionState : uint8_t { kPending, kSynthesizing, kSynthDone, kGpu, kDone, kFailed };
/// "pending", "synthesizing", "synth_done", "gpu", "done", "failed".
std::string_view PartitionStateName(PartitionState state);

struct PartitionStatus {
  uint32_t index = 0;
  PartitionState state{};
  std::optional<uint64_t> synthesis_ms, device_ms;
};

struct JobStatus {
  JobProgress progress;
  Priority priority{};
  std::string circuit;  ///< id; for PoRep empty until the C1 was read
  store::Subject subject;
  uint32_t place = 0;                      ///< in the queue, from 1; 0: it does not wait
  std::optional<double> deadline_seconds;  ///< until its callers' deadline or the operator's limit
  double submitted_seconds_ago = 0;
  std::optional<double> started_seconds_ago, finished_seconds_ago;
  std::vector<PartitionStatus> partitions;
};

struct WorkerStatus {
  unsigned worker = 0;  ///< of the device, from 0
  std::optional<uint64_t> job_key;
  std::string job_id;  ///< empty: idle
  filecoin::Kind kind{};
  uint32_t partition = 0;
  double busy_seconds = 0;        ///< of the current partition
  double busy_seconds_total = 0;  ///< since the start, finished partitions only
  bool critical_only = false;     ///< the last worker of a device
};

/// Whether a device gets work.
enum class DeviceService : uint8_t {
  kWorks,
  kDoubted,      ///< it has faults and goes on, because no other device works
  kQuarantined,  ///< its faults are the reason that it gets no work
  kDisabled,     ///< an operator took it out
  kLost          ///< for good
};
/// "works", "doubted", "quarantined", "disabled", "lost".
std::string_view DeviceServiceName(DeviceService service);
/// Whether it gets partitions.
inline bool GetsWork(DeviceService service) { return service <= DeviceService::kDoubted; }

/// The same with its reason.
struct ServiceState {
  DeviceService now = DeviceService::kWorks;
  std::string why;  ///< empty: it simply works
  TimePoint since{};
  bool works() const { return GetsWork(now); }
};

struct DeviceStatus {
  std::string name;
  int ordinal = 0;
  prover::DeviceIdentity identity;
  prover::MemoryInfo memory;      ///< as the workers last saw it
  double memory_seconds_ago = 0;  ///< age of `memory`
  std::string lost;               ///< why; empty: healthy
  DeviceService service = DeviceService::kWorks;
  std::string service_reason;      ///< why it does not simply work; empty: it does
  double service_seconds_ago = 0;  ///< since `service` changed, or since the start
  std::set<filecoin::Kind> kinds;  ///< that it proves; empty: all
  uint32_t wrong_proofs = 0;       ///< since the start or since it was enabled
  uint32_t errors_in_a_row = 0;
  std::vector<WorkerStatus> workers;
  memory::PinnedPoolSnapshot pool;
  uint32_t queued = 0;  ///< witnesses that wait for a worker
  uint64_t partitions_total = 0;
  double busy_seconds_total = 0;                ///< in which kernels ran, of ended partitions
  double busy_share = 0;                        ///< the same of the last minute, 0 to 1
  uint64_t copied_to_device_bytes_total = 0;    ///< witnesses of ended partitions
  std::map<std::string, double> stage_seconds;  ///< of ended partitions, by prover::stage; workers overlap
};

struct KindStatus {
  uint32_t pending = 0, in_progress = 0;  ///< unfinished jobs, each counted once; pending: it Waits
  uint64_t completed_total = 0, failed_total = 0, cancelled_total = 0;  ///< since the job store was made

  /// That of a final state.
  uint64_t& Total(JobState state) {
    return state == JobState::kCompleted ? completed_total
           : state == JobState::kFailed  ? failed_total
                                         : cancelled_total;
  }
};

struct EngineCounters {
  uint64_t submitted_total = 0, joined_total = 0, refused_total = 0;
  uint64_t wrong_proofs_total = 0;            ///< partitions whose proof did not verify
  uint64_t verifier_disagreements_total = 0;  ///< jobs whose proofs verified one by one, but not together
  uint64_t history_lost_total = 0;            ///< ended jobs that could not be written to the history
  uint64_t store_errors_total = 0;            ///< writes to the job store that failed
  uint64_t store_damaged_total = 0;           ///< jobs whose row, proof or request the disk has changed
  uint64_t device_errors_total = 0;           ///< partitions that a device gave back with an error
  uint64_t devices_lost_total = 0;
  uint64_t quarantines_total = 0;      ///< devices that were taken out for their faults
  uint64_t retries_total = 0;          ///< partitions that were returned to be proved again
  uint64_t partitions_total = 0;       ///< proved and collected
  uint64_t scheduler_turns_total = 0;  ///< grows at least once a second while the engine lives
};

/// Something that went wrong: how a job failed, what a device did.
struct ErrorStatus {
  std::string text;
  double seconds_ago = 0;
};

struct EngineStatus {
  double uptime_seconds = 0;
  std::string not_ready;  ///< why jobs are refused; empty: ready
  memory::BudgetSnapshot budget;
  std::vector<DeviceStatus> devices;
  std::vector<prover::ParameterStatus> parameters;
  std::map<std::string, uint32_t> parameter_users;  ///< by circuit: partitions that are on their way with them
  std::map<filecoin::Kind, KindStatus> kinds;       ///< all four
  std::vector<JobStatus> jobs;                      ///< unfinished in order of submission, then recently ended
  EngineCounters counters;
  unsigned synthesis_threads = 0, synthesis_active = 0;
  uint64_t results_kept = 0;
  double store_wait_seconds = 0;         ///< age of the oldest operation that the job store has not completed; 0: none
  std::vector<ErrorStatus> last_errors;  ///< newest first, at most 20

  /// How many partitions hold the parameters of a circuit; 1 while they are only held by the load that just ended.
  uint32_t ParameterReferences(const std::string& circuit) const;
};

}  // namespace cuzk::engine
