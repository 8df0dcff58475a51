#include "core/store/job_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/store/repair.h"
#include "core/store/schema.h"
#include "core/store/seal.h"
#include "core/store/state_directory.h"

namespace cuzk::store {

/// The turn of one operation, from construction to destruction. The operation counts for the disk's health once its
/// turn has come: an operation that waits behind others is no sign of a disk that hangs.
class ABSL_SCOPED_LOCKABLE JobStore::Turn {
 public:
  Turn(JobStore& store, std::string_view operation) ABSL_EXCLUSIVE_LOCK_FUNCTION(store.turns_) : store_(store) {
    store_.turns_.Take();
    Begin(operation);
  }
  /// Of a turn that was taken already.
  struct Taken {};
  Turn(JobStore& store, std::string_view operation, Taken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(store.turns_) : store_(store) {
    Begin(operation);
  }
  ~Turn() ABSL_UNLOCK_FUNCTION() {
    operation_.reset();
    store_.turns_.End();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  void Begin(std::string_view operation) {
    operation_.emplace(store_.health_);
    if (store_.options_.seam) store_.options_.seam(operation);
  }

  JobStore& store_;
  std::optional<DiskHealth::Operation> operation_;
};

StatusOr<std::unique_ptr<JobStore>> JobStore::Open(const StoreOptions& options) {
  std::unique_ptr<JobStore> store(new JobStore(options));
  CUZK_RETURN_IF_ERROR(store->Advised(store->Begin()));
  auto trial = [](const std::filesystem::path& directory) -> Status {
    CUZK_RETURN_IF_ERROR(TryToWrite(directory));
    return TryToLock(directory);
  };
  store->health_.Start(trial, kTrialPause);  // opening it was the first
  return store;
}

JobStore::~JobStore() {
  if (lock_file_ >= 0) close(lock_file_);
}

Status JobStore::Advised(const Status& status) const {
  // These say what to do themselves: a store that another process has open is not to be moved away.
  if (status.ok() || absl::IsPermissionDenied(status) || absl::IsResourceExhausted(status) ||
      absl::IsFailedPrecondition(status) || absl::IsAborted(status)) {
    return status;
  }
  return absl::FailedPreconditionError(
      StrCat(status.message(), "; repair ", options_.directory.string(),
             ", or move it away (its jobs are then lost), or set another jobs.state_directory"));
}

Status JobStore::Begin() {
  const std::filesystem::path& directory = options_.directory;
  CUZK_RETURN_IF_ERROR(PrepareStateDirectory(directory));
  const std::filesystem::path lock = directory / "lock";
  lock_file_ = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock_file_ < 0) return ErrnoStatus(errno, "open", lock);
  if (flock(lock_file_, LOCK_EX | LOCK_NB) != 0) {
    return absl::AbortedError(StrCat("another process uses the job store in ", directory.string()));
  }
  health_.Watch(lock_file_, lock);
  const Turn turn(*this, "open");
  CUZK_ASSIGN_OR_RETURN(database_, Database::Open(directory));
  CUZK_RETURN_IF_ERROR(BringUpToDate(*database_));
  CUZK_ASSIGN_OR_RETURN(damaged_, RepairRows(*database_, payloads_, *options_.clock));
  CUZK_ASSIGN_OR_RETURN(const std::set<int64_t> in_work, marks_.Open(directory));
  for (int64_t row : in_work) CUZK_RETURN_IF_ERROR(AddLoss(row));
  CUZK_RETURN_IF_ERROR(marks_.Clear());
  history_status_ = BeginHistory();
  CUZK_ASSIGN_OR_RETURN(const std::set<int64_t> unfinished, UnfinishedRows());
  return payloads_.DeleteAllBut(unfinished);
}

Status JobStore::BeginHistory() {
  history_writer_.emplace(*database_);
  CUZK_RETURN_IF_ERROR(history_writer_->Adopt());
  CUZK_ASSIGN_OR_RETURN(history_reader_, HistoryReader::Open(options_.directory));
  return absl::OkStatus();
}

StatusOr<const HistoryReader*> JobStore::history() const {
  CUZK_RETURN_IF_ERROR(history_status_);
  return history_reader_.get();
}

StatusOr<std::set<int64_t>> JobStore::UnfinishedRows() {
  std::set<int64_t> unfinished;
  Statement rows(*database_, "SELECT row FROM jobs WHERE state=?");
  rows.Bind(static_cast<int64_t>(RowState::kUnfinished));
  for (;;) {
    CUZK_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return unfinished;
    unfinished.insert(rows.Int(0));
  }
}

StatusOr<std::vector<StoredJob>> JobStore::Load() {
  const Turn turn(*this, "load");
  std::vector<StoredJob> jobs;
  Statement rows(
      *database_,
      "SELECT row,id,kind,priority,digest,submitted,state,proof,error,fetched,finished,proof_number,bytes,"
      "losses,queue_ms,load_ms,synthesis_ms,device_ms,total_ms,miner,sector,post_partition FROM jobs ORDER BY row");
  for (;;) {
    const StatusOr<bool> more = rows.Step();
    if (!more.ok()) return Advised(more.status());
    if (!*more) return jobs;
    StoredJob job{.row = rows.Int(0), .id = rows.Bytes(1)};
    // RepairRows has seen to it that these are what they may be.
    job.kind = static_cast<filecoin::Kind>(rows.Int(2));
    job.priority = static_cast<uint8_t>(rows.Int(3));
    const std::string digest = rows.Bytes(4);
    std::memcpy(job.digest.data(), digest.data(), std::min(digest.size(), job.digest.size()));
    job.submitted_ms = rows.Int(5);
    job.state = static_cast<RowState>(rows.Int(6));
    job.proof = rows.Bytes(7);
    job.error = rows.Bytes(8);
    job.fetched = rows.Int(9) != 0;
    job.finished_ms = rows.Int(10);
    job.registered_proof = static_cast<uint64_t>(rows.Int(11));
    job.payload_bytes = static_cast<uint64_t>(rows.Int(12));
    job.losses = static_cast<uint32_t>(rows.Int(13));
    int column = 14;
    for (uint64_t* time : {&job.times.queue_wait_ms, &job.times.srs_load_ms, &job.times.synthesis_ms,
                           &job.times.gpu_compute_ms, &job.times.total_ms}) {
      *time = static_cast<uint64_t>(rows.Int(column++));
    }
    job.subject = {.miner = static_cast<uint64_t>(rows.Int(19)),
                   .sector = static_cast<uint64_t>(rows.Int(20)),
                   .partition = static_cast<uint32_t>(rows.Int(21))};
    jobs.push_back(std::move(job));
  }
}

StatusOr<filecoin::VanillaRequest> JobStore::ReadPayload(int64_t row, const Bytes32& digest) {
  const DiskHealth::Operation operation(health_);
  if (options_.seam) options_.seam("read payload");
  return payloads_.Read(row, digest);
}

StatusOr<int64_t> JobStore::Accept(const StoredJob& job, const filecoin::VanillaRequest& request, uint64_t most_bytes) {
  if (!turns_.TakeWithin(options_.patience)) {
    CUZK_RETURN_IF_ERROR(health_.Answers());
    return absl::UnavailableError("the job store is busy");
  }
  const Turn turn(*this, "accept", Turn::Taken());
  CUZK_RETURN_IF_ERROR(health_.CheckFolder());
  if (payloads_.bytes() + request.payload_bytes() > most_bytes) {
    return absl::ResourceExhaustedError(
        StrCat("the job store holds ", payloads_.bytes(), " of at most ", most_bytes, " bytes of requests"));
  }
  // The row is committed after its payload is on disk.
  CUZK_RETURN_IF_ERROR(database_->Execute("BEGIN"));
  StatusOr<int64_t> row = Insert(job, request);
  Status status = row.status();
  if (status.ok()) status = payloads_.Write(*row, request);
  if (status.ok()) {
    status = database_->Execute("COMMIT");
    if (!status.ok()) payloads_.Delete(*row);
  }
  if (!status.ok()) {
    (void)database_->Execute("ROLLBACK");
    return status;
  }
  health_.Wrote();
  return row;
}

StatusOr<int64_t> JobStore::Insert(const StoredJob& job, const filecoin::VanillaRequest& request) {
  StoredJob sealed{.id = job.id, .kind = job.kind, .digest = job.digest, .submitted_ms = job.submitted_ms};
  sealed.registered_proof = request.registered_proof;
  sealed.payload_bytes = request.payload_bytes();
  const Bytes32 seal = SealOf(sealed);
  Statement insert(*database_,
                   "INSERT INTO jobs(id,kind,proof_number,priority,digest,bytes,submitted,state,seal,miner,sector,"
                   "post_partition) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
  CUZK_RETURN_IF_ERROR(insert.BindText(job.id)
                           .Bind(static_cast<int64_t>(job.kind))
                           .Bind(static_cast<int64_t>(sealed.registered_proof))
                           .Bind(job.priority)
                           .BindBlob(job.digest)
                           .Bind(static_cast<int64_t>(sealed.payload_bytes))
                           .Bind(job.submitted_ms)
                           .Bind(static_cast<int64_t>(RowState::kUnfinished))
                           .BindBlob(seal)
                           .Bind(static_cast<int64_t>(job.subject.miner))
                           .Bind(static_cast<int64_t>(job.subject.sector))
                           .Bind(job.subject.partition)
                           .Run());
  return database_->LastRow();
}

Status JobStore::Finish(const StoredJob& job) {
  const Turn turn(*this, "finish");
  CUZK_RETURN_IF_ERROR(health_.CheckFolder());
  Statement update(*database_,
                   "UPDATE jobs SET state=?,proof=?,proof_digest=?,error=?,finished=?,queue_ms=?,load_ms=?,"
                   "synthesis_ms=?,device_ms=?,total_ms=? WHERE row=?");
  const Bytes32 digest = Sha256(AsBytes(job.proof));
  update.Bind(static_cast<int64_t>(job.state))
      .BindBlob(AsBytes(job.proof))
      .BindBlob(digest)
      .BindText(job.error)
      .Bind(job.finished_ms);
  for (uint64_t time : {job.times.queue_wait_ms, job.times.srs_load_ms, job.times.synthesis_ms,
                        job.times.gpu_compute_ms, job.times.total_ms}) {
    update.Bind(static_cast<int64_t>(time));
  }
  CUZK_RETURN_IF_ERROR(update.Bind(job.row).Run());
  payloads_.Delete(job.row);
  return absl::OkStatus();
}

Status JobStore::ChangePriority(int64_t row, uint8_t priority) {
  const Turn turn(*this, "change");
  return Statement(*database_, "UPDATE jobs SET priority=? WHERE row=?").Bind(priority).Bind(row).Run();
}

Status JobStore::Fetched(int64_t row) {
  const Turn turn(*this, "fetched");
  return Statement(*database_, "UPDATE jobs SET fetched=1 WHERE row=?").Bind(row).Run();
}

Status JobStore::Forget(int64_t row) {
  const Turn turn(*this, "forget");
  CUZK_RETURN_IF_ERROR(Statement(*database_, "DELETE FROM jobs WHERE row=?").Bind(row).Run());
  payloads_.Delete(row);
  return absl::OkStatus();
}

Status JobStore::CountLoss(int64_t row) {
  const Turn turn(*this, "count loss");
  return AddLoss(row);
}

Status JobStore::AddLoss(int64_t row) {
  return Statement(*database_, "UPDATE jobs SET losses=losses+1 WHERE row=?").Bind(row).Run();
}

Status JobStore::Remember(std::span<const EndedJob> jobs, std::span<const NotedError> errors,
                          const HistoryLimits& limits) {
  CUZK_RETURN_IF_ERROR(history_status_);
  const Turn turn(*this, "remember");
  return history_writer_->Remember(jobs, errors, limits, options_.clock->WallMs());
}

Status JobStore::Mark(unsigned worker, int64_t row) {
  if (!health_.Answers().ok()) return absl::OkStatus();
  const DiskHealth::Operation operation(health_);
  if (options_.seam) options_.seam("mark");
  return marks_.Set(worker, row);
}

Status JobStore::Unmark() {
  const DiskHealth::Operation operation(health_);
  return marks_.Close();
}

}  // namespace cuzk::store
