#pragma once
// Begins, changes and ends jobs. Every step of a job's life after it was added to the table, other than the start of
// its parsing, is taken here.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/jobs/options.h"
#include "core/engine/reports/reports.h"
#include "core/engine/state/circuits.h"
#include "core/engine/state/state.h"

namespace cuzk::engine {

class RecordStage;

class JobControl {
 public:
  struct Parts {
    EngineState& state;
    const EngineOptions& options;
    const Clock& clock;
    Observer* observer = nullptr;  ///< may be null
    Reports& reports;
    CircuitTable& circuits;
    RecordStage* records = nullptr;  ///< null: nothing is stored
  };
  explicit JobControl(const Parts& parts) : p_(parts) {}

  /// A deadline, or none, within what the operator lets a job take from its submission.
  std::optional<TimePoint> WithinLimit(std::optional<TimePoint> deadline, TimePoint submitted) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Takes up a job that was just added to the table.
  void Enter(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// An equal request was accepted: the job takes the higher priority and the later deadline.
  void Join(Job& job, Priority priority, std::optional<TimePoint> deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Its request is parsed: the job takes the parsed form.
  void Parsed(StateLock& lock, Job& job, std::shared_ptr<const ParsedJob> parsed)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Brings what the scheduler may serve, and whether the job waits for parameters, up to date.
  void Refresh(const StateLock& lock, Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  void RefreshAll(const StateLock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// A partition is to be proved once more.
  void ReturnPartition(const StateLock& lock, Job& job, uint32_t index) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

  /// Ends a job: at once, or where it is stored once that is written. False if it was over before.
  bool End(StateLock& lock, Job& job, Outcome outcome) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  bool Fail(StateLock& lock, Job& job, std::string error) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) {
    return End(lock, job, {JobState::kFailed, std::move(error)});
  }
  /// The outcome of a job is written, or need not be: its callers may know.
  void Conclude(StateLock& lock, Job& job, Outcome outcome) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Concludes jobs with a reserve (HasReserve) whose record takes longer than kUrgentPatience.
  void ConcludeUrgent(StateLock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Ends a job that was in work too often when its device was lost or the process died; `last` says how it went the
  /// last time.
  void GiveUp(StateLock& lock, Job& job, std::string_view last) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Stops every unfinished job: a stored one is kept for the next start, any other ends so. Returns how many those
  /// were.
  uint32_t StopAll(StateLock& lock, const Outcome& outcome) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Whether every job has ended or was stopped for the next start.
  bool Drained() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Why an Await of a stopped job that the store keeps has no result.
  Status Kept(const Job& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

  /// The result of a job that has ended, for one caller: what becomes of it is told to Delivered.
  JobResult HandOut(const StateLock& lock, Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  void Delivered(const StateLock& lock, Job& job, bool taken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Forgets ended jobs beyond the retention, in the store as well.
  void Prune() ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// The store need not keep a row any more; 0: there is none.
  void Forget(int64_t row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

 private:
  void StopWork(StateLock& lock, Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// A job that ends enters the history.
  void Remember(const Job& job, const Outcome& outcome) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  void Report(Job& job, const JobResult& result, Actor actor);

  const Parts p_;
};

}  // namespace cuzk::engine
