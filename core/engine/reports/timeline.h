#pragma once
// What every worker and thread has done recently, for display in a trace viewer.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/mutex.h"
#include "core/engine/jobs/job.h"

namespace cuzk::engine {

/// One bar: a track, what was done on it, and for which job.
struct TimelineBar {
  std::string track;      ///< "synthesis 0", "device 0 worker 1", "finisher", "loader 0"
  std::string_view name;  ///< a constant of the program
  TimePoint begin{}, end{};
  uint64_t job_key = 0;  ///< 0: of no job
  std::string job_id;
  uint32_t partition = 0;
};

/// Thread-safe. Keeps the latest bars, at most `most` of them. A reader holds the lock only while it copies pointers,
/// so a thread that adds a bar never waits long.
class TimelineLog {
 public:
  explicit TimelineLog(TimePoint origin, size_t most = 20'000) : origin_(origin), most_(most) {}
  void Add(TimelineBar bar);
  /// Chrome's trace format: an object with "traceEvents", complete events in microseconds since the origin, one thread
  /// a track, with its name.
  std::string ToJson() const;
  /// The bars that ended at `since` or later, in the order in which they were added; at most the last `most`.
  std::vector<std::shared_ptr<const TimelineBar>> Since(TimePoint since, size_t most) const;

 private:
  using Bars = std::deque<std::shared_ptr<const TimelineBar>>;
  Bars Copy() const;

  const TimePoint origin_;
  const size_t most_;
  mutable Mutex mutex_;
  Bars bars_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cuzk::engine
