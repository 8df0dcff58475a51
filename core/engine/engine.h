#pragma once
// The engine: accepts requests, proves them on the devices it was given, verifies what they return, and keeps the
// results for a while. Everything that the daemon calls is here.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/engine/jobs/job.h"
#include "core/engine/jobs/job_list.h"
#include "core/engine/jobs/options.h"
#include "core/engine/jobs/status.h"
#include "core/engine/reports/events.h"
#include "core/engine/reports/timeline.h"

namespace cuzk::engine {

struct PreloadResult {
  bool already_loaded = false;
  uint64_t load_time_ms = 0;
};
struct EvictResult {
  bool was_loaded = false;
  uint64_t freed_bytes = 0;
};

/// Thread-safe. Owns its threads; the destructor cancels what is unfinished and joins.
class Engine {
 public:
  static StatusOr<std::unique_ptr<Engine>> Create(EngineOptions options, EngineParts parts);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Accepts a request, or joins an equal job (same id, kind and payload) that is unfinished or whose proof no caller
  /// has received. An unfinished job then has the higher priority and the later deadline of the two. Looks at message
  /// fields only and returns quickly; the first request for a circuit waits until it is recorded, a second at most.
  /// After an error the request was not accepted and is gone. INVALID_ARGUMENT and UNIMPLEMENTED from the message's
  /// fields; RESOURCE_EXHAUSTED: queue, size, memory or store (LimitsFor), or a circuit that can never fit the memory
  /// budget; UNAVAILABLE: draining, no device, or a store that does not answer (a WinningPoSt is then proved without
  /// being stored); FAILED_PRECONDITION: no parameters for the circuit, where the message shows it.
  StatusOr<JobTicket> Submit(ProofRequest request);

  /// Counts a request that was refused before it came here, so that refused_total has all.
  void CountRefused();

  /// Waits for the end of the execution that a ticket names. DEADLINE_EXCEEDED when `until` passes first (the job goes
  /// on), CANCELLED when `stop` is requested, NOT_FOUND when the result is no longer kept, UNAVAILABLE when the engine
  /// stopped and keeps the job for the next start.
  StatusOr<JobResult> Await(uint64_t key, std::optional<TimePoint> until, std::stop_token stop = {});
  /// The same for the newest job with that id.
  StatusOr<JobResult> Await(const std::string& job_id, std::optional<TimePoint> until, std::stop_token stop = {});

  /// Says whether the caller received a result that Await returned. Between Await and this call an equal request starts
  /// a new execution. If delivery fails, or the daemon restarts before a caller received the result, later equal
  /// requests share the stored result.
  void Delivered(uint64_t key, bool taken);

  /// Ends the newest job with that id as cancelled. Its callers are answered at once; its partitions stop at their next
  /// boundary and give back what they hold. False if it had ended, or was about to. NOT_FOUND for an unknown id.
  /// UNAVAILABLE if the job was stopped and is kept for the next start, or if the store does not answer: then it has
  /// stopped, and ends when the store answers.
  StatusOr<bool> Cancel(const std::string& job_id);
  /// The caller of this ticket has gone: cancels the execution if no other caller shares it.
  void Abandon(const JobTicket& ticket);

  /// Progress of the newest job with that id (NOT_FOUND), or of all jobs when `job_id` is empty. Begins with the
  /// present state of each.
  StatusOr<std::shared_ptr<Watcher>> Watch(const std::string& job_id);

  /// A page of jobs. INVALID_ARGUMENT for a place that no page named; UNAVAILABLE if the job store does not answer.
  StatusOr<JobList> ListJobs(const JobQuery& query) const;
  /// The newest unfinished job with that id, or the one that ended last. NOT_FOUND; UNAVAILABLE as above.
  StatusOr<ListedJob> FindJob(const std::string& job_id) const;

  /// Takes effect for later requests; accepted jobs stay, results beyond the limits are forgotten.
  void SetLimits(const EngineLimits& limits);

  EngineStatus Snapshot() const;
  /// EngineStatus::parameters alone, for those who ask often: no job is looked at, and no lock of the jobs taken.
  std::vector<prover::ParameterStatus> ParameterStates() const;
  /// OK when jobs are accepted; UNAVAILABLE with the reason otherwise.
  Status Ready() const;
  /// Blocks until this engine cannot go on, and says why. UNAVAILABLE: the last device was lost; by then every job was
  /// kept for the next start or has failed, and nothing more will be proved. ABORTED: the folder of the job store was
  /// replaced by another one; jobs that were accepted are still proved. OK when `stop` is requested first.
  Status AwaitLoss(std::stop_token stop) const;
  /// Timeline of the latest partitions on every worker and thread, in Chrome's trace format.
  std::string TimelineJson() const;
  /// Of that timeline the bars that ended at `since` or later; at most the last `most`.
  std::vector<std::shared_ptr<const TimelineBar>> Timeline(TimePoint since, size_t most) const;

  /// Loads the parameters of a circuit on every device and waits for it. INVALID_ARGUMENT for an unknown circuit,
  /// CANCELLED when `stop` is requested, UNAVAILABLE once Drain was called (during the load as well).
  StatusOr<PreloadResult> Preload(const std::string& circuit_id, std::stop_token stop = {});
  /// Drops them where they are idle. FAILED_PRECONDITION while they are in use.
  StatusOr<EvictResult> Evict(const std::string& circuit_id);

  /// Takes a device out, or brings one back once it has passed its self-test, and says how it is then; blocks for the
  /// test. `device` is its UUID or its number, "cpu" for the CPU device. NOT_FOUND if there is no such device;
  /// FAILED_PRECONDITION: it is lost, or to be taken out and the last that works, or to be brought back and still at
  /// work on a partition that was taken from it; the self-test's error.
  StatusOr<DeviceStatus> SetDevice(const std::string& device, bool enabled);
  /// Something that this engine cannot see speaks against the device of that number among its own: it is taken out
  /// unless it is the last that works.
  void DoubtDevice(size_t device, const std::string& why);

  /// Accepts nothing more and lets jobs end until `until`. The rest goes on at the next start if there is a state
  /// directory, and fails otherwise. Returns how many those were.
  uint32_t Drain(TimePoint until);

 private:
  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cuzk::engine
