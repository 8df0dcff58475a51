#pragma once
// The durable job store: an accepted job, and a result that no caller has received, survive a kill and a restart. Rows
// are in SQLite (write-ahead log, every commit flushed); the payload of each unfinished request is one file beside it,
// so that there is one copy of it on disk.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/store/database.h"
#include "core/store/health.h"
#include "core/store/history.h"
#include "core/store/payload.h"
#include "core/store/row.h"
#include "core/store/turns.h"
#include "core/store/work_marks.h"

namespace cuzk::store {

struct StoreOptions {
  std::filesystem::path directory;  ///< made with mode 0700 if it does not exist; otherwise left as it is
  std::chrono::milliseconds patience = kPatience;  ///< how long the disk may take for one operation
  const Clock* clock = &Clock::System();           ///< must outlive the store
  /// For tests: called inside every operation, with its name; may block like a disk.
  std::function<void(std::string_view operation)> seam;
};

/// Thread-safe; one operation at a time.
class JobStore {
 public:
  /// Opens or makes the store, and deletes its payload files that belong to no unfinished job; every other file in the
  /// folder stays. A job that was in work when the previous process died has one loss more. A damaged job is proved
  /// again where its request is whole, otherwise it has failed: see damaged().
  /// ABORTED while another process has the store open or its database is locked; FAILED_PRECONDITION, with what to do,
  /// if its format is of a later program, or if it cannot be opened or is damaged; PERMISSION_DENIED;
  /// RESOURCE_EXHAUSTED if the disk is full.
  static StatusOr<std::unique_ptr<JobStore>> Open(const StoreOptions& options);
  ~JobStore();
  JobStore(const JobStore&) = delete;
  JobStore& operator=(const JobStore&) = delete;

  /// Every job, oldest first, without payloads. FAILED_PRECONDITION, with what to do, if it cannot be read.
  StatusOr<std::vector<StoredJob>> Load();
  /// What Open found damaged, one line for people each.
  const std::vector<std::string>& damaged() const { return damaged_; }
  /// The payload of an unfinished job. DATA_LOSS or NOT_FOUND if it is damaged or missing.
  StatusOr<filecoin::VanillaRequest> ReadPayload(int64_t row, const Bytes32& digest);

  /// Stores an unfinished job (its id, kind, priority, digest and submission) with its request, and returns its row.
  /// On disk when it returns. RESOURCE_EXHAUSTED if unfinished requests would take more than `most_bytes`, or on a full
  /// disk; UNAVAILABLE if earlier operations have not ended within the patience, or if the folder has gone.
  StatusOr<int64_t> Accept(const StoredJob& job, const filecoin::VanillaRequest& request, uint64_t most_bytes);
  /// The end of a job: row, state, proof or error, times, finished_ms. Its payload is deleted. On disk when it returns.
  Status Finish(const StoredJob& job);
  Status ChangePriority(int64_t row, uint8_t priority);
  /// A caller has received the result; not flushed at once.
  Status Fetched(int64_t row);
  /// The job was never accepted, or is no longer kept.
  Status Forget(int64_t row);
  /// A device was lost with this job on it. On disk when it returns.
  Status CountLoss(int64_t row);

  /// A worker begins on a job, or with row 0 is done with it. Waits for no other operation, and does nothing while the
  /// disk does not answer: a mark may be missing.
  Status Mark(unsigned worker, int64_t row);
  /// The process ends in an orderly way: from now on no job counts as in work.
  Status Unmark();

  /// See HistoryWriter. Fails as history() does.
  Status Remember(std::span<const EndedJob> jobs, std::span<const NotedError> errors, const HistoryLimits& limits);
  /// Its functions wait for no operation of the store. An error, for as long as the store is open, if the history could
  /// not be read or written when it was opened: then the store does without.
  StatusOr<const HistoryReader*> history() const;

  /// See DiskHealth.
  const DiskHealth& health() const { return health_; }
  void OnReplaced(std::function<void()> call) { health_.OnReplaced(std::move(call)); }

 private:
  class Turn;
  explicit JobStore(const StoreOptions& options)
      : options_(options), payloads_(options.directory), health_(options.directory, options.patience, *options.clock) {}
  Status Begin();
  Status BeginHistory() ABSL_EXCLUSIVE_LOCKS_REQUIRED(turns_);
  Status Advised(const Status& status) const;
  StatusOr<int64_t> Insert(const StoredJob& job, const filecoin::VanillaRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(turns_);
  Status AddLoss(int64_t row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(turns_);
  StatusOr<std::set<int64_t>> UnfinishedRows() ABSL_EXCLUSIVE_LOCKS_REQUIRED(turns_);

  const StoreOptions options_;
  int lock_file_ = -1;  // the folder's `lock`, held as long as the store is open
  Turns turns_;
  std::unique_ptr<Database> database_ ABSL_GUARDED_BY(turns_);
  std::optional<HistoryWriter> history_writer_ ABSL_GUARDED_BY(turns_);
  Status history_status_;  // set once, as the reader is
  std::unique_ptr<HistoryReader> history_reader_;
  std::vector<std::string> damaged_;
  WorkMarks marks_;
  PayloadFiles payloads_;  // written in turns; reading needs none
  DiskHealth health_;      // last: its thread ends before the rest
};

}  // namespace cuzk::store
