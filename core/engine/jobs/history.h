#pragma once
// The jobs that ended and the errors that were noted, on their way to the history of the job store. Nothing waits for
// them: where the store takes none, they are lost, and are counted.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/jobs/job_record.h"
#include "core/store/history.h"

namespace cuzk::engine {

/// Not thread-safe: the engine's mutex guards it.
class History {
 public:
  /// What is written at once.
  struct Batch {
    std::vector<store::EndedJob> jobs;
    std::vector<store::NotedError> errors;
    bool empty() const { return jobs.empty() && errors.empty(); }
  };

  /// `stored`: there is a job store to which Take and Done will bring everything.
  explicit History(bool stored) : stored_(stored) {}
  /// The number that was given last before the restart.
  void Continue(int64_t last_number) { last_number_ = last_number; }
  /// The store has no history: the latest ends are kept in memory alone.
  void KeepInMemory();

  void Add(store::EndedJob job);
  void Add(store::NotedError error);
  /// Whether there is something to write.
  bool waits() const { return stored_ && (!jobs_.empty() || !errors_.empty()); }
  /// The oldest that are to be written.
  Batch Take() const;
  /// They were written, or are lost. True if they are lost and those before them were not: that is to be told.
  bool Done(const Batch& batch, bool written);

  /// Of those that are kept here, what store::HistoryReader::List would answer.
  std::vector<store::EndedJob> List(const store::HistoryFilter& filter, std::optional<store::HistoryPlace> after,
                                    size_t most) const;
  std::optional<store::EndedJob> Find(const std::string& id) const;
  /// Ended jobs that are not in the history.
  uint64_t lost_total() const { return lost_total_; }

 private:
  bool stored_;
  bool losing_ = false;
  int64_t last_number_ = 0;
  uint64_t lost_total_ = 0;
  std::deque<store::EndedJob> jobs_;      // ascending numbers
  std::deque<store::NotedError> errors_;  // the same
};

/// What the history says of a job: of one that has not ended, so far. Without number, outcome and time of the end.
store::EndedJob FactsOf(const Job& job, TimePoint now, int64_t wall_ms) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

}  // namespace cuzk::engine
