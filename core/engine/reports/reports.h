#pragma once
// What the engine tells those outside: progress to watchers, measurements and warnings to the observer, bars to the
// timeline.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/engine/reports/events.h"
#include "core/engine/reports/timeline.h"
#include "core/engine/schedule/forecast.h"
#include "core/engine/state/state.h"

namespace cuzk::engine {

class Reports {
 public:
  Reports(EngineState& state, const Clock& clock, Observer* observer, EventHub& events, TimelineLog& timeline)
      : state_(state), clock_(clock), observer_(observer), events_(events), timeline_(timeline) {}

  /// What Watch tells about a job.
  JobProgress ProgressOf(Job& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Tells the watchers where a job is.
  void Publish(Job& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Keeps something that went wrong among the last errors.
  void Note(std::string text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// The same, and tells the observer when the mutex has been released.
  void Warn(StateLock& lock, std::string text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// A stage of a job or of one of its partitions took this long. Takes the engine's mutex.
  void Measured(Job& job, Stage stage, Duration took, Actor actor);
  /// The same of a partition that a worker of a device has proved, whose estimate is known already. Nothing of a job
  /// that is over, as every job of an engine that is being destroyed is.
  void MeasuredDevice(const Job& job, Duration took);
  /// The same of loading, whose jobs are all those of the circuit and whose estimate is known already.
  void MeasuredLoad(filecoin::Kind kind, double seconds) const;

  /// A bar of the timeline that ends now. With or without the engine's mutex.
  void Draw(const Job& job, uint32_t partition, std::string_view name, const std::string& track, TimePoint begin);
  void Draw(TimelineBar bar) { timeline_.Add(std::move(bar)); }

 private:
  /// Makes the forecast and the places anew if they are older than a moment, or do not have the job, which is not over.
  void LookAhead(const Job& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

  EngineState& state_;
  const Clock& clock_;
  Observer* const observer_;  // may be null
  // The latest, by key.
  mutable std::map<uint64_t, std::optional<double>> seconds_left_ ABSL_GUARDED_BY(kEngineState);
  mutable std::map<uint64_t, uint32_t> places_ ABSL_GUARDED_BY(kEngineState);
  mutable TimePoint looked_ahead_ ABSL_GUARDED_BY(kEngineState){};
  EventHub& events_;
  TimelineLog& timeline_;
};

}  // namespace cuzk::engine
