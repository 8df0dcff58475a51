#pragma once
// The history: what is known of the jobs that ended, for those who ask later. It is not needed to prove anything, so
// its rows are not flushed one by one, and a job that is missing here is no error of the store.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/filecoin/types/registry.h"
#include "core/store/database.h"
#include "core/store/row.h"

namespace cuzk::store {

/// A job that ended. Times of day are milliseconds since 1970.
struct EndedJob {
  int64_t number = 0;  ///< ascends with the ends; given by the caller
  int64_t row = 0;     ///< of the job in the store; 0: it was not stored
  std::string id;
  filecoin::Kind kind{};
  uint64_t registered_proof = 0;
  uint8_t priority = 0;
  Subject subject;
  std::string circuit;      ///< id; empty if it was not known
  std::string device;       ///< on which partitions were proved: "cpu", "0", "0,1"; empty: none
  uint32_t partitions = 0;  ///< 0 if it was not parsed
  uint32_t losses = 0;
  int64_t submitted_ms = 0, finished_ms = 0;
  RowState state{};
  std::string stage;  ///< in which it was when it ended; empty if that is not known
  std::string error;  ///< of a job that failed or was cancelled
  JobTimes times;
};

/// Something that went wrong, of a job or of a device.
struct NotedError {
  int64_t number = 0;  ///< ascending; given by the caller
  int64_t at_ms = 0;
  std::string text;
};

/// What is kept: no job that ended longer ago than `age`, and no more than `most`, the latest.
struct HistoryLimits {
  std::chrono::milliseconds age{};
  uint32_t most{};
};

/// How many of the last errors are kept.
inline constexpr size_t kErrorsKept = 20;

/// Which jobs are asked for; an absent value admits all.
struct HistoryFilter {
  std::optional<filecoin::Kind> kind;
  std::optional<RowState> state;
  std::optional<int64_t> since_ms;  ///< that ended then or later

  bool Admits(const EndedJob& job) const;
};

/// A place in the list of ended jobs, which begins with the latest end.
struct HistoryPlace {
  int64_t finished_ms = 0, number = 0;

  /// Whether the job comes later in the list.
  bool IsBefore(const EndedJob& job) const {
    return std::pair(job.finished_ms, job.number) < std::pair(finished_ms, number);
  }
};

/// The order of that list, in which the clock of the machine counts before the number: it may have been set back.
inline bool IsListedBefore(const EndedJob& x, const EndedJob& y) {
  return HistoryPlace{x.finished_ms, x.number}.IsBefore(y);
}

/// How many jobs of a kind ended in a state, since the store was made.
using Totals = std::map<std::pair<filecoin::Kind, RowState>, uint64_t>;

/// Writes the history of one database; used by one thread at a time.
class HistoryWriter {
 public:
  explicit HistoryWriter(Database& database) : database_(database) {}

  /// Takes in the jobs that ended and were not remembered, since the process died before or was an earlier program.
  Status Adopt();
  /// Adds to the history, to the totals and to the last errors, all or nothing, and drops what is beyond the limits.
  /// In the database when it returns, but not flushed to the disk.
  Status Remember(std::span<const EndedJob> jobs, std::span<const NotedError> errors, const HistoryLimits& limits,
                  int64_t now_ms);

 private:
  Status Write(std::span<const EndedJob> jobs, std::span<const NotedError> errors);
  Status Insert(const EndedJob& job);
  Status Prune(const HistoryLimits& limits, int64_t now_ms);
  Status Count();

  Database& database_;
  std::optional<uint64_t> kept_;  // rows of the history, once they were counted
};

/// Reads the history over a connection of its own, so that no operation of the store waits for a reader. Thread-safe.
class HistoryReader {
 public:
  /// Of a database whose tables are up to date.
  static StatusOr<std::unique_ptr<HistoryReader>> Open(const std::filesystem::path& directory);

  /// The latest ends first, those after `after` alone; at most `most`.
  StatusOr<std::vector<EndedJob>> List(const HistoryFilter& filter, std::optional<HistoryPlace> after,
                                       size_t most) const;
  /// The latest end of a job with that id; nothing if there is none.
  StatusOr<std::optional<EndedJob>> Find(const std::string& id) const;
  StatusOr<Totals> ReadTotals() const;
  /// The latest first.
  StatusOr<std::vector<NotedError>> Errors() const;
  /// The highest number that was given.
  StatusOr<int64_t> LastNumber() const;

 private:
  explicit HistoryReader(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  mutable Mutex mutex_;
  const std::unique_ptr<Database> database_ ABSL_PT_GUARDED_BY(mutex_);
};

/// The query of HistoryReader::List, with a question mark for each value.
std::string ListQuery(const HistoryFilter& filter, bool after);
/// The query of HistoryReader::Find.
std::string FindQuery();

}  // namespace cuzk::store
