#pragma once
// Progress as a stream. A watcher keeps only the latest state of each job, so a slow reader costs nothing.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/engine/job.h"

namespace cuzk::engine {

class EventHub;

/// One reader's view of the jobs it watches. Next is called by one thread at a time.
class Watcher {
 public:
  /// The next event: for each job at most one per kEventInterval, the latest state; the final one always comes.
  /// nullopt when `until` passes or `stop` is requested (nothing is lost), or when the stream is over.
  std::optional<JobProgress> Next(TimePoint until, std::stop_token stop);
  /// No event will come any more: the engine stopped, or the one job watched has ended and that was told.
  bool over() const;

 private:
  friend class EventHub;
  struct Entry {
    std::optional<JobProgress> latest;  // not yet told
    TimePoint next{};                   // not before
  };
  explicit Watcher(std::optional<uint64_t> key) : key_(key) {}
  void Offer(const JobProgress& progress);
  void End();

  const std::optional<uint64_t> key_;  // the only job; none: all
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<uint64_t, Entry> entries_;  // by job key; guarded by mutex_
  bool ended_ = false;                 // guarded by mutex_
  uint64_t offers_ = 0;                // changes so far; guarded by mutex_
};

/// At most four events a second and job.
inline constexpr std::chrono::milliseconds kEventInterval{250};

/// Hands progress to all watchers. Thread-safe.
class EventHub {
 public:
  /// Watches one job or, without a key, all, beginning with `present`. The watcher is dropped when its owner lets go.
  std::shared_ptr<Watcher> Watch(std::optional<uint64_t> key, const std::vector<JobProgress>& present);
  /// Whether anybody watches: progress need not be computed otherwise.
  bool watched() const;
  void Publish(const JobProgress& progress);
  /// Ends every stream, also later ones.
  void End();

 private:
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<Watcher>> watchers_;  // guarded by mutex_
  bool ended_ = false;                            // guarded by mutex_
};

}  // namespace cuzk::engine
