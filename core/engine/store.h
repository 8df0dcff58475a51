#pragma once
// The durable side of the job table: an accepted job and a result that was not fetched yet survive a kill and a
// restart. Rows are in SQLite (write-ahead log, every commit flushed); each unfinished request's payload is one file
// beside it, so that there is one copy of it on disk.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/file.h"
#include "core/base/input_file.h"
#include "core/base/status.h"
#include "core/engine/job.h"
#include "core/engine/store_calls.h"

struct sqlite3;

namespace cuzk::engine {

/// Times in the store are the wall clock's, milliseconds since 1970.
struct StoredJob {
  int64_t row = 0;
  std::string id;
  filecoin::Kind kind{};
  Priority priority{};
  Bytes32 digest{};
  int64_t submitted_ms = 0;
  JobState state = JobState::kQueued;  ///< kQueued for everything that had not ended
  filecoin::VanillaRequest vanilla;    ///< given to Accept; Load leaves it empty
  uint64_t registered_proof = 0;       ///< the message's
  uint64_t payload_bytes = 0;          ///< of an unfinished job
  std::string proof, error;
  JobTimings timings;
  uint32_t losses = 0;  ///< times that it was in work when its device was lost or the process died
  bool fetched = false;
  int64_t finished_ms = 0;
};

struct StoreOptions {
  std::filesystem::path directory;                 ///< made with mode 0700 if it is not there; otherwise left as it is
  uint64_t max_payload_bytes = uint64_t{8} << 30;  ///< of all unfinished requests
  std::chrono::milliseconds patience = kStorePatience;  ///< of Accept, with what others ask
  /// For tests: called inside every operation, with its name; may block like a disk.
  std::function<void(std::string_view operation)> seam;
};

/// PERMISSION_DENIED, with the mode and what to do, if the folder is there and open to others than its user and group:
/// who can write into it can take accepted jobs away. Changes nothing: the folder may be somebody else's.
Status CheckStateDirectory(const std::filesystem::path& directory);

/// Makes the folder, with mode 0700, if it is not there. PERMISSION_DENIED of CheckStateDirectory, and, with the owner,
/// for one that belongs neither to root nor to the process's user.
Status PrepareStateDirectory(const std::filesystem::path& directory);

/// Thread-safe; one statement at a time.
class JobStore {
 public:
  /// Opens or makes the store, and deletes payload files of its own that belong to no unfinished job; whatever else
  /// lies in the folder stays. What was in work when the process before this one died has one loss more. A job that is
  /// damaged is proved again where its request is whole, else it has failed: see damaged().
  /// ABORTED while another process has it open or its database is locked; FAILED_PRECONDITION if its format is of a
  /// later program, or if it cannot be opened or is damaged; PERMISSION_DENIED; RESOURCE_EXHAUSTED if the disk is full.
  static StatusOr<std::unique_ptr<JobStore>> Open(const StoreOptions& options);
  ~JobStore();

  /// Everything in it, oldest first, without payloads. FAILED_PRECONDITION, with what to do, if it cannot be read.
  StatusOr<std::vector<StoredJob>> Load();
  /// What Open found damaged, a line for people each.
  const std::vector<std::string>& damaged() const { return damaged_; }
  /// The payload of an unfinished job. DATA_LOSS or NOT_FOUND if it is damaged or missing.
  StatusOr<filecoin::VanillaRequest> ReadPayload(int64_t row, const Bytes32& digest) const;

  /// On disk when it returns. RESOURCE_EXHAUSTED above the limit (a WinningPoSt has a reserve, ReservedBytes) or on a
  /// full disk; UNAVAILABLE if the store has not answered others for `patience`, or has gone.
  StatusOr<int64_t> Accept(const StoredJob& job);
  /// The end of a job, with its proof or error; its payload goes. On disk when it returns.
  Status Finish(const StoredJob& job);
  /// The priority is now another.
  Status Change(const StoredJob& job);
  /// Somebody has got the result; not flushed at once.
  Status Fetched(int64_t row);
  /// The job was never accepted, or is no longer kept.
  Status Forget(int64_t row);

  /// A worker begins on a job, or with row 0 is done with it. Written in place to a file that stays as it is however
  /// the process ends; not flushed, since no job is to blame for a power cut. Waits for no other statement, and
  /// does nothing while the store does not answer.
  Status Mark(unsigned worker, int64_t row) const;
  /// The process ends in an orderly way: from now on nobody counts as in work.
  Status Unmark();
  /// A device was lost with this job on it. On disk when it returns.
  Status CountLoss(int64_t row);

  /// When it took the oldest of what it has in hand and has not answered; waits for nothing.
  std::optional<TimePoint> OldestCall() const { return calls_.Oldest(); }
  /// UNAVAILABLE if it has not answered for `patience` what was asked at `since`, with the time.
  Status Answers(std::optional<TimePoint> since) const;
  /// UNAVAILABLE if the last operation found the folder removed or replaced under this process; waits for nothing.
  Status Gone() const;

 private:
  class Statement;
  class Turn;
  explicit JobStore(const StoreOptions& options) : options_(options) {}
  Status Begin();
  Status Advised(const Status& status) const;
  /// Looks whether the folder is still the one that was opened.
  Status StillThere();
  Status OpenDatabase();
  /// What an older program of format `from` wrote becomes this program's format, all or nothing. What had no digest is
  /// taken as it is.
  Status Renew(int64_t from);
  Status AddColumn(const char* name, const char* type);
  Status DropColumn(const char* name);
  StatusOr<bool> HasColumn(const char* name);
  Status DigestProofs();
  Status SealRows();
  /// Deals with what the disk has changed: see Open.
  Status MendRows();
  struct Damage;
  StatusOr<std::vector<Damage>> FindDamage();
  Status Mend(const Damage& damage);
  Status OpenMarks();
  Status Execute(const char* sql);
  Status Error(std::string_view what) const;
  std::filesystem::path PayloadPath(int64_t row) const;
  Status DeleteOrphans();
  void DeletePayload(int64_t row);
  StatusOr<int64_t> Insert(const StoredJob& job);
  Status WritePayload(int64_t row, const filecoin::VanillaRequest& request) const;

  const StoreOptions options_;
  mutable StoreCalls calls_;
  std::mutex mutex_;
  std::condition_variable free_;
  bool taken_ = false;  // somebody has the turn, who alone may use the database; guarded by mutex_
  sqlite3* database_ = nullptr;
  std::vector<std::string> damaged_;
  std::atomic<bool> gone_ = false;
  int lock_file_ = -1;
  int marks_ = -1;                         // the file of marks: by worker the row, eight bytes each
  std::atomic<bool> orderly_end_ = false;  // no marks any more
  uint64_t payload_bytes_ = 0;             // of the files; for who has the turn
};

/// What a WinningPoSt may take beyond a limit of bytes: its minute is worth more than their order.
uint64_t ReservedBytes(uint64_t limit);

/// The wall clock, in the store's unit.
int64_t WallClockMs();

/// A request as it lies in a payload file, and back, without a further copy of the payload in memory. InvalidArgument
/// if the file is no request; the file's own errors.
Status WriteRequest(const filecoin::VanillaRequest& request, AtomicFile& file);
StatusOr<filecoin::VanillaRequest> ReadRequest(const InputFile& file);

}  // namespace cuzk::engine
