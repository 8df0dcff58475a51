#pragma once
// What the engine is told at its creation.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/clock.h"
#include "core/base/thread_pool.h"
#include "core/engine/jobs/job.h"
#include "core/memory/budget.h"
#include "core/prover/device/device.h"
#include "core/prover/parameters/parameter_store.h"
#include "core/store/health.h"
#include "core/store/history.h"

namespace cuzk::engine {

class ParameterSource;
class ProofWork;

/// A member without a default here is a setting, whose default is in the table of settings: a caller sets all of these.
struct EngineOptions {
  std::filesystem::path parameter_directory;
  bool allow_development = false;
  prover::DigestPolicy digest = prover::DigestPolicy::kCheck;
  groth16::PointPolicy points = groth16::PointPolicy::kCurve;

  uint32_t max_unfinished_jobs{};  ///< more: RESOURCE_EXHAUSTED
  uint64_t max_request_bytes{};    ///< of one payload; more: RESOURCE_EXHAUSTED
  /// Of the budget, for all requests and their parsed forms; more: RESOURCE_EXHAUSTED, though one request is always
  /// accepted. 0: a quarter of the budget.
  uint64_t max_request_memory{};
  std::chrono::seconds max_job_time{};  ///< from submission; 0: no limit
  uint32_t max_results{};               ///< ended jobs that are kept
  std::chrono::seconds result_age{};    ///< and for how long

  unsigned synthesis_threads{};          ///< requests and partitions that are parsed or synthesized at once
  unsigned workers_per_device{};         ///< and kReservedWorkers more, for CRITICAL partitions alone
  unsigned device_queue = 2;             ///< witnesses that may wait for a device, and kReservedPlaces more
  uint32_t overtakes = 16;               ///< partitions that may pass a waiting job before it gets its turn
  uint64_t pinned_bytes_per_device = 0;  ///< cap of each device's pool; 0: the budget alone
  r1cs::Layout layout = r1cs::Layout::kNarrow;

  /// Where accepted jobs and results survive a restart; empty: nowhere.
  std::filesystem::path state_directory;
  store::HistoryLimits history{};  ///< of the jobs that ended, there
  uint64_t max_stored_bytes{};     ///< of unfinished requests there; more: RESOURCE_EXHAUSTED

  /// A job that was in work this often when its device was lost, or on a device, in parsing or in synthesis when the
  /// process died without a drain, fails instead of being tried again. 0: no limit.
  uint32_t max_losses{};

  /// A device that returns so many errors in a row, or proofs that are wrong twice, gets no work any more while another
  /// one works. 0: it does.
  uint32_t quarantine_errors = 0;
};

/// What the devices plan with.
inline prover::PlanOptions PlanOptionsOf(const EngineOptions& options) {
  return {.workers = options.workers_per_device, .layout = options.layout};
}

/// The options that may change while the engine works.
struct EngineLimits {
  uint32_t max_unfinished_jobs{};
  uint32_t max_results{};
  std::chrono::seconds result_age{};
  std::chrono::seconds max_job_time{};
  store::HistoryLimits history{};
};

/// Told about measurements; called from the engine's threads, must return quickly, may be called concurrently.
class Observer {
 public:
  virtual ~Observer() = default;
  /// A stage of a job (parsing, loading) or of one of its partitions took this long.
  virtual void OnStage(filecoin::Kind, Stage, double /*seconds*/) {}
  /// A request became a job, and was not joined to an equal one.
  virtual void OnAccepted(const JobTicket&, filecoin::Kind, uint64_t /*payload_bytes*/) {}
  /// The store was read at the creation of the engine: so many unfinished jobs go on, so many results are kept.
  virtual void OnRecovered(size_t /*unfinished*/, size_t /*results*/) {}
  /// A job ended, `seconds` after its submission. Await answers when this has returned.
  virtual void OnJob(const JobResult&, double /*seconds*/) {}
  /// Something that an operator should read in the log.
  virtual void OnWarning(const std::string& /*text*/) {}
};

/// For tests alone; the defaults do nothing.
struct EngineSeams {
  /// May change a proof's bytes between assembly and verification.
  std::function<void(const std::string& job_id, uint32_t partition, std::span<uint8_t> proof)> after_assembly;
  /// Called when a job's partition is next, before its device is chosen; under the engine's mutex.
  std::function<void(const std::string& job_id)> before_device;
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
  /// What each device proves, by its place; empty, or no entry: every kind.
  std::vector<std::set<filecoin::Kind>> device_kinds;
  ThreadPool* pool = nullptr;                                  ///< parsing, synthesis and verification
  algebra::Arithmetic arithmetic = algebra::BestArithmetic();  ///< of synthesis and verification
  Observer* observer = nullptr;                                ///< may be null
  const Clock* clock = &Clock::System();
  /// Has a device compute what is known, before it gets work again; none: it gets it without. Any thread, and several
  /// at once for different devices.
  std::function<Status(prover::Device&)> self_test;
  EngineSeams seams;
};

/// Whether the device of that place proves the kind.
inline bool Takes(const EngineParts& parts, size_t device, filecoin::Kind kind) {
  return device >= parts.device_kinds.size() || parts.device_kinds[device].empty() ||
         parts.device_kinds[device].contains(kind);
}

}  // namespace cuzk::engine
