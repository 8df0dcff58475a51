#pragma once
// The engine: accepts requests, proves them on the devices it was given, verifies what they return, and keeps the
// results for a while. Everything that the daemon calls is here.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/status.h"
#include "core/base/thread_pool.h"
#include "core/engine/events.h"
#include "core/engine/job.h"
#include "core/engine/status.h"
#include "core/engine/timeline.h"
#include "core/memory/budget.h"
#include "core/prover/device.h"
#include "core/prover/parameter_store.h"
#include "core/store/health.h"

namespace cuzk::engine {

class ParameterSource;
class Pipeline;
class ProofWork;

struct EngineOptions {
  std::filesystem::path parameter_directory;
  bool allow_development = false;
  prover::DigestPolicy digest = prover::DigestPolicy::kCheck;
  groth16::PointPolicy points = groth16::PointPolicy::kCurve;

  uint32_t max_unfinished_jobs = 256;                ///< more: RESOURCE_EXHAUSTED
  uint64_t max_request_bytes = uint64_t{256} << 20;  ///< of one payload; more: RESOURCE_EXHAUSTED
  /// Of the budget, for all requests and their parsed forms; more: RESOURCE_EXHAUSTED, though one request is always let
  /// in. 0: a quarter of the budget.
  uint64_t max_request_memory = 0;
  std::chrono::seconds max_job_time{0};   ///< from submission; 0: no limit
  uint32_t max_results = 1000;            ///< ended jobs that are kept
  std::chrono::seconds result_age{3600};  ///< and for how long

  unsigned synthesis_threads = 1;        ///< partitions (and requests) worked on at once before the devices
  unsigned workers_per_device = 2;       ///< and one more that takes CRITICAL partitions alone
  unsigned device_queue = 2;             ///< witnesses that may wait for a device; CRITICAL may exceed it by one
  uint32_t overtakes = 16;               ///< partitions that may pass a waiting job before it gets its turn
  uint64_t pinned_bytes_per_device = 0;  ///< cap of each device's pool; 0: the budget alone
  r1cs::Layout layout = r1cs::Layout::kNarrow;

  /// Where accepted jobs and unfetched results survive a restart; empty: nowhere.
  std::filesystem::path state_directory;
  uint64_t max_stored_bytes = uint64_t{8} << 30;  ///< of unfinished requests there; more: RESOURCE_EXHAUSTED

  /// A job that was in work so often when its device was lost, or on a device, in parsing or in synthesis when the
  /// process died without a drain, fails instead of being tried again. 0: no limit.
  uint32_t max_losses = 3;
};

/// Those of the options that may change while the engine works.
struct EngineLimits {
  uint32_t max_unfinished_jobs = 256;
  uint32_t max_results = 1000;
  std::chrono::seconds result_age{3600};
  std::chrono::seconds max_job_time{0};
};

/// Told about measurements; called from the engine's threads, must return quickly, may be called at the same time.
class Observer {
 public:
  virtual ~Observer() = default;
  /// A stage of a job (parsing, loading) or of one of its partitions took this long.
  virtual void OnStage(filecoin::Kind, Stage, double /*seconds*/) {}
  /// A job ended, `seconds` after its submission. Await answers when this has returned.
  virtual void OnJob(const JobResult&, double /*seconds*/) {}
  /// Something that an operator should read in the log.
  virtual void OnWarning(const std::string& /*text*/) {}
};

/// For tests alone; the defaults do nothing.
struct EngineSeams {
  std::function<TimePoint()> now;  ///< instead of the steady clock
  /// May change a proof's bytes between assembly and verification.
  std::function<void(const std::string& job_id, uint32_t partition, std::span<uint8_t> proof)> after_assembly;
  /// May change what a batch of proofs was found to be.
  std::function<bool(bool valid)> batch_answer;
  /// Called inside every operation of the job store, with its name; may block as a disk does.
  std::function<void(std::string_view operation)> store;
  std::chrono::milliseconds store_patience = store::kPatience;
  ProofWork* work = nullptr;              ///< instead of core/filecoin and core/circuit
  ParameterSource* parameters = nullptr;  ///< instead of files in parameter_directory
};

/// What the engine works with. All must outlive it.
struct EngineParts {
  memory::Budget* budget = nullptr;
  std::vector<prover::Device*> devices;
  ThreadPool* pool = nullptr;                                  ///< parsing, synthesis and verification
  algebra::Arithmetic arithmetic = algebra::BestArithmetic();  ///< of synthesis and verification
  Observer* observer = nullptr;                                ///< may be null
  EngineSeams seams;
};

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

  /// Accepts a request, or joins an equal one (same id, kind and payload) that is unfinished, which then has the higher
  /// priority and the later deadline, or whose proof nobody fetched. Looks at message fields only and returns quickly.
  /// On an error the request was not accepted and is gone. INVALID_ARGUMENT and UNIMPLEMENTED from the message's
  /// fields; RESOURCE_EXHAUSTED: queue, size, memory or store, of each of which a WinningPoSt has a reserve;
  /// UNAVAILABLE: draining, no device, or a store that does not answer; FAILED_PRECONDITION: no parameters for the
  /// circuit, where the message shows it.
  StatusOr<JobTicket> Submit(ProofRequest request);

  /// Waits for the end of the execution that a ticket names. DEADLINE_EXCEEDED when `until` passes first (the job goes
  /// on), CANCELLED when `stop` is requested, NOT_FOUND when the result is no longer kept, UNAVAILABLE when the engine
  /// stopped and keeps the job for the next start.
  StatusOr<JobResult> Await(uint64_t key, std::optional<TimePoint> until, std::stop_token stop = {});
  /// The same for the newest job with that id.
  StatusOr<JobResult> Await(const std::string& job_id, std::optional<TimePoint> until, std::stop_token stop = {});

  /// What became of a result that Await gave: whether its caller got it. No equal request shares the execution while
  /// that is open; one does, and so it is after a restart, if nobody got it.
  void Delivered(uint64_t key, bool taken);

  /// Ends the newest job with that id as cancelled: at once for whoever waits; its partitions stop at their next
  /// boundary and give back what they hold. False if it had ended, or was about to; NOT_FOUND for an unknown id,
  /// UNAVAILABLE if it was stopped and is kept for the next start, or if the store does not answer: then it has
  /// stopped, and ends once the store does.
  StatusOr<bool> Cancel(const std::string& job_id);
  /// The caller of this ticket has gone: cancels the execution if no other caller shares it.
  void Abandon(const JobTicket& ticket);

  /// Progress of the newest job with that id (NOT_FOUND), or of all jobs when `job_id` is empty. Begins with the
  /// present state of each.
  StatusOr<std::shared_ptr<Watcher>> Watch(const std::string& job_id);

  /// In force for what comes from now on; accepted jobs stay, results beyond the limits go.
  void SetLimits(const EngineLimits& limits);

  EngineStatus Snapshot() const;
  /// OK when jobs are accepted; UNAVAILABLE with the reason otherwise.
  Status Ready() const;
  /// Blocks until the last device was lost: UNAVAILABLE with the reason. By then every job was kept for the next start
  /// or has failed; this engine will prove nothing more. OK when `stop` is requested first.
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

  /// Accepts nothing more and lets jobs end until `until`. The rest goes on at the next start if there is a state
  /// directory, and fails otherwise. Returns how many those were.
  uint32_t Drain(TimePoint until);

 private:
  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cuzk::engine
