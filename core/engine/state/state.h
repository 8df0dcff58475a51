#pragma once
// The state that the engine's threads share, and its one mutex. The mutex is held for bookkeeping only: nothing is
// parsed, proved, loaded, reserved or reported under it.

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/engine/jobs/guard.h"
#include "core/engine/jobs/history.h"
#include "core/engine/jobs/job_table.h"
#include "core/engine/jobs/lifecycle.h"
#include "core/engine/jobs/options.h"
#include "core/engine/jobs/status.h"
#include "core/engine/schedule/estimator.h"
#include "core/engine/schedule/scheduler.h"
#include "core/engine/state/wake_signal.h"

namespace cuzk::engine {

struct ErrorNote {
  std::string text;
  TimePoint when{};
};

/// What devices that were taken out, or lost, still have. It is waited for like all that is on its way, but not for
/// ever: a device may hang, and a call of its driver cannot be abandoned.
struct GivenUp {
  static constexpr std::chrono::seconds kPatience{60};
  int count = 0;
  TimePoint latest{};
  void Add(int more, TimePoint now) {
    if (more == 0) return;
    count += more;
    latest = now;
  }
  /// Before its passage ends.
  void CameBack() { --count; }
  /// How many are not waited for any more.
  int Abandoned(TimePoint now) const { return now - latest < kPatience ? 0 : count; }
};

struct EngineState {
  explicit EngineState(const EngineOptions& options)
      : jobs({options.max_results, options.result_age}),
        scheduler(options.overtakes),
        history(!options.state_directory.empty()),
        synthesis_threads(options.synthesis_threads),
        max_unfinished_jobs(options.max_unfinished_jobs),
        max_job_time(options.max_job_time),
        history_limits(options.history) {}

  Mutex mutex;  ///< kEngineState; held through a StateLock alone
  JobTable jobs ABSL_GUARDED_BY(kEngineState);
  Scheduler scheduler ABSL_GUARDED_BY(kEngineState);
  History history ABSL_GUARDED_BY(kEngineState);
  Estimator estimator ABSL_GUARDED_BY(kEngineState);
  const unsigned synthesis_threads;
  EngineCounters counters ABSL_GUARDED_BY(kEngineState);
  std::map<filecoin::Kind, KindStatus> kinds ABSL_GUARDED_BY(kEngineState);  ///< the totals
  std::deque<ErrorNote> last_errors ABSL_GUARDED_BY(kEngineState);           ///< newest first
  unsigned usable_devices ABSL_GUARDED_BY(kEngineState) = 0;
  bool draining ABSL_GUARDED_BY(kEngineState) = false;
  bool stopping ABSL_GUARDED_BY(kEngineState) = false;
  std::string refusing ABSL_GUARDED_BY(kEngineState);         ///< why nothing is accepted, if no device is left
  bool store_replaced ABSL_GUARDED_BY(kEngineState) = false;  ///< the folder of the job store will not come back
  uint32_t max_unfinished_jobs ABSL_GUARDED_BY(kEngineState);
  std::chrono::seconds max_job_time ABSL_GUARDED_BY(kEngineState);  ///< from submission; 0: no limit

  store::HistoryLimits history_limits ABSL_GUARDED_BY(kEngineState);

  Condition ended;         ///< a job ended or was suspended, or the engine refuses jobs
  Condition loads_wanted;  ///< a job may wait for parameters
  Condition record_work;   ///< something is to be written to the job store
  Condition device_work;   ///< a device's queue, or the urgency of what is in it, has changed

  GivenUp partitions_given_up ABSL_GUARDED_BY(kEngineState);  ///< of those in flight
  GivenUp loads_given_up ABSL_GUARDED_BY(kEngineState);       ///< of the loads

  // With locks of their own.
  WakeSignal admission;
  /// Partitions, requests that are being parsed or taken in, and remains of ended jobs. Memory that belongs neither to
  /// these nor to a job in the table is idle.
  std::atomic<int> in_flight = 0;
  std::atomic<int> loads = 0;  ///< of parameters
  std::stop_source loading;    ///< stops every load, for good
};

/// The engine's mutex, held from construction to destruction by a thread of one kind. What was put off with After runs
/// when the mutex has been released.
class ABSL_SCOPED_LOCKABLE StateLock {
 public:
  StateLock(EngineState& state, Actor actor) ABSL_EXCLUSIVE_LOCK_FUNCTION(kEngineState) ABSL_NO_THREAD_SAFETY_ANALYSIS
      : state_(state),
        actor_(actor) {
    state_.mutex.Lock();
  }
  ~StateLock() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    state_.mutex.Unlock();
    for (auto& call : after_) call();
  }
  StateLock(const StateLock&) = delete;
  StateLock& operator=(const StateLock&) = delete;

  Actor actor() const { return actor_; }
  /// For reports, and for the destruction of what is large.
  void After(std::function<void()> call) { after_.push_back(std::move(call)); }
  /// The waits of Condition.
  void Wait(Condition& condition) ABSL_NO_THREAD_SAFETY_ANALYSIS { condition.Wait(state_.mutex); }
  bool WaitUntil(Condition& condition, std::optional<TimePoint> until,
                 const std::stop_token& stop = {}) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return condition.WaitUntil(state_.mutex, until, stop);
  }

 private:
  EngineState& state_;
  const Actor actor_;
  std::vector<std::function<void()>> after_;
};

/// Counts in one of EngineState's counters from construction to destruction, and then wakes admission. Move-only.
class Passage {
 public:
  Passage() = default;
  Passage(EngineState& state, std::atomic<int>& count) : count_(&count), signal_(&state.admission) { ++*count_; }
  Passage(Passage&& other) noexcept : count_(std::exchange(other.count_, nullptr)), signal_(other.signal_) {}
  Passage& operator=(Passage&& other) noexcept {
    std::swap(count_, other.count_);
    std::swap(signal_, other.signal_);
    return *this;
  }
  ~Passage() {
    if (count_ == nullptr) return;
    --*count_;
    signal_->Notify();
  }

 private:
  std::atomic<int>* count_ = nullptr;
  WakeSignal* signal_ = nullptr;
};

}  // namespace cuzk::engine
