#pragma once
// The last station of a stored job: an end is on disk before any caller knows of it, so that no caller hears another
// one after a crash.

#include <deque>
#include <optional>
#include <thread>

#include "core/engine/stages/tasks.h"
#include "core/engine/state/state.h"
#include "core/store/job_store.h"

namespace cuzk::engine {

class JobControl;
class Reports;

class RecordStage {
 public:
  RecordStage(EngineState& state, store::JobStore& store, const Clock& clock)
      : state_(state), store_(store), clock_(clock) {}

  /// Begins its thread, which ends when the engine is stopping and everything is written.
  /// RESOURCE_EXHAUSTED: the system gives no thread.
  Status Start(JobControl& jobs, Reports& reports);
  void Push(RecordTask task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Waits until everything is written, once the engine is stopping.
  void Stop();
  /// When the oldest task that is not written yet was asked for.
  std::optional<TimePoint> OldestTask() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

 private:
  void Run();
  Status Write(const RecordTask& task);
  void Finish(RecordTask task, const Status& written);
  void WriteHistory(const History::Batch& batch, const store::HistoryLimits& limits);

  EngineState& state_;
  store::JobStore& store_;
  const Clock& clock_;
  JobControl* jobs_ = nullptr;  // since Start
  Reports* reports_ = nullptr;
  std::deque<RecordTask> records_ ABSL_GUARDED_BY(kEngineState);          // in the order in which they are written
  std::optional<TimePoint> writing_since_ ABSL_GUARDED_BY(kEngineState);  // when the task in hand was asked for
  std::jthread thread_;                                                   // last: joined first
};

}  // namespace cuzk::engine
