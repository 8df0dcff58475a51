#pragma once
// Progress as a stream. A watcher keeps only the latest state of each job, so a slow reader takes no memory.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/engine/jobs/job.h"

namespace cuzk::engine {

class EventHub;

/// One reader's view of the jobs it watches. Next is called by one thread at a time.
class Watcher {
 public:
  /// Blocks until the next event: the latest state of a job, at most once per kEventInterval and job; a final state is
  /// always delivered. nullopt when `until` passes or `stop` is requested, in which case no event is lost, or when the
  /// stream is over.
  std::optional<JobProgress> Next(TimePoint until, std::stop_token stop);
  /// True when no further event will come: the engine stopped, or the only watched job has ended and Next returned its
  /// final state.
  bool over() const;

 private:
  friend class EventHub;
  struct Entry {
    std::optional<JobProgress> latest;  // that Next has not returned yet
    TimePoint next{};                   // the earliest time at which it may
  };
  explicit Watcher(std::optional<uint64_t> key) : key_(key) {}
  void Offer(const JobProgress& progress);
  void End();

  const std::optional<uint64_t> key_;  // the only job; none: all
  mutable Mutex mutex_;
  Condition changed_;
  std::map<uint64_t, Entry> entries_ ABSL_GUARDED_BY(mutex_);  // by job key
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

/// At most four events a second and job.
inline constexpr std::chrono::milliseconds kEventInterval{250};

/// Delivers progress to all watchers. Thread-safe.
class EventHub {
 public:
  /// Watches one job or, without a key, all jobs. The stream begins with `present`, and ends when its owner destroys
  /// the watcher.
  std::shared_ptr<Watcher> Watch(std::optional<uint64_t> key, const std::vector<JobProgress>& present);
  /// Whether there is a watcher. Without one, progress need not be computed.
  bool watched() const;
  void Publish(const JobProgress& progress);
  /// Ends every stream, including those that are opened later.
  void End();

 private:
  mutable Mutex mutex_;
  std::vector<std::weak_ptr<Watcher>> watchers_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace cuzk::engine
