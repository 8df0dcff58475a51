#include "core/engine/store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>
#include <system_error>
#include <utility>

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/engine/intake.h"
#include "core/engine/store_statement.h"

namespace cuzk::engine {
namespace {

constexpr std::string_view kSuffix = ".payload";
/// What AtomicFile appends to a name while it writes: this and six characters.
constexpr std::string_view kPart = ".part-";
constexpr size_t kPartLength = kPart.size() + 6;

/// Whether a file of this name was written by a store: ROW.payload, or what a crash left of writing it.
bool IsPayloadName(std::string_view name) {
  if (name.size() > kPartLength && name.substr(name.size() - kPartLength).starts_with(kPart)) {
    name.remove_suffix(kPartLength);
  }
  if (!name.ends_with(kSuffix)) return false;
  name.remove_suffix(kSuffix.size());
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

StatusOr<std::unique_ptr<JobStore>> JobStore::Open(const StoreOptions& options) {
  std::unique_ptr<JobStore> store(new JobStore(options));
  CUZK_RETURN_IF_ERROR(store->Advised(store->Begin()));
  return store;
}

Status JobStore::Advised(const Status& status) const {
  // These say what to do themselves: a store that another process has open is not to be moved away.
  if (status.ok() || absl::IsPermissionDenied(status) || absl::IsResourceExhausted(status) ||
      absl::IsFailedPrecondition(status) || absl::IsAborted(status)) {
    return status;
  }
  return absl::FailedPreconditionError(StrCat(
      status.message(), "; mend ", options_.directory.string(),
      " or move it away (jobs that wait in it are lost then), or choose another place with jobs.state_directory"));
}

Status JobStore::Begin() {
  CUZK_RETURN_IF_ERROR(PrepareStateDirectory(options_.directory));
  std::filesystem::path lock = options_.directory / "lock";
  lock_file_ = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock_file_ < 0) return ErrnoStatus(errno, "open", lock);
  if (flock(lock_file_, LOCK_EX | LOCK_NB) != 0) {
    return absl::AbortedError(StrCat("another process uses the job store in ", options_.directory.string()));
  }
  CUZK_RETURN_IF_ERROR(OpenDatabase());
  CUZK_RETURN_IF_ERROR(MendRows());
  CUZK_RETURN_IF_ERROR(OpenMarks());
  return DeleteOrphans();
}

Status JobStore::StillThere() {
  const std::filesystem::path lock = options_.directory / "lock";
  struct stat opened {};
  struct stat now {};
  if (fstat(lock_file_, &opened) != 0) return ErrnoStatus(errno, "look at", lock);
  gone_ = stat(lock.c_str(), &now) != 0 || now.st_dev != opened.st_dev || now.st_ino != opened.st_ino;
  return Gone();
}

Status JobStore::Answers(std::optional<TimePoint> since) const {
  const auto now = std::chrono::steady_clock::now();
  if (!since || now - *since < options_.patience) return absl::OkStatus();
  return absl::UnavailableError(StrCat("the job store in ", options_.directory.string(), " has not answered for ",
                                       std::chrono::duration_cast<std::chrono::seconds>(now - *since).count(),
                                       " s: no job can be kept"));
}

Status JobStore::Gone() const {
  if (!gone_) return absl::OkStatus();
  return absl::UnavailableError(StrCat("the job store in ", options_.directory.string(),
                                       " was removed or replaced under this process: no job can be kept; restart it"));
}

JobStore::~JobStore() {
  if (database_ != nullptr) sqlite3_close(database_);
  if (marks_ >= 0) close(marks_);
  if (lock_file_ >= 0) close(lock_file_);
}

std::filesystem::path JobStore::PayloadPath(int64_t row) const { return options_.directory / StrCat(row, kSuffix); }

Status JobStore::DeleteOrphans() {
  std::set<std::string> wanted;
  Statement rows(*this, "SELECT row FROM jobs WHERE state=?");
  rows.Bind(static_cast<int64_t>(JobState::kQueued));
  for (;;) {
    CUZK_ASSIGN_OR_RETURN(bool more, rows.Step());
    if (!more) break;
    wanted.insert(PayloadPath(rows.Int(0)).filename().string());
  }
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(options_.directory, error)) {
    std::string name = entry.path().filename().string();
    if (!IsPayloadName(name) || entry.symlink_status(error).type() != std::filesystem::file_type::regular) continue;
    if (wanted.contains(name)) {
      payload_bytes_ += std::filesystem::file_size(entry.path(), error);
    } else {
      std::filesystem::remove(entry.path(), error);
    }
  }
  return error ? ErrnoStatus(error.value(), "read", options_.directory) : absl::OkStatus();
}

StatusOr<std::vector<StoredJob>> JobStore::Load() {
  const Turn turn(*this, "load");
  std::vector<StoredJob> jobs;
  Statement rows(*this,
                 "SELECT row,id,kind,priority,digest,submitted,state,proof,error,timings,fetched,finished,"
                 "proof_number,bytes,losses FROM jobs ORDER BY row");
  for (;;) {
    StatusOr<bool> more = rows.Step();
    if (!more.ok()) return Advised(more.status());
    if (!*more) return jobs;
    StoredJob job{.row = rows.Int(0), .id = rows.Bytes(1)};
    // That these are what they may be is MendRows' work.
    job.kind = static_cast<filecoin::Kind>(rows.Int(2));
    job.priority = static_cast<Priority>(rows.Int(3));
    std::string digest = rows.Bytes(4), timings = rows.Bytes(9);
    std::memcpy(job.digest.data(), digest.data(), std::min(digest.size(), job.digest.size()));
    std::memcpy(&job.timings, timings.data(), std::min(timings.size(), sizeof job.timings));
    job.submitted_ms = rows.Int(5);
    job.state = static_cast<JobState>(rows.Int(6));
    job.proof = rows.Bytes(7);
    job.error = rows.Bytes(8);
    job.fetched = rows.Int(10) != 0;
    job.finished_ms = rows.Int(11);
    job.registered_proof = static_cast<uint64_t>(rows.Int(12));
    job.payload_bytes = static_cast<uint64_t>(rows.Int(13));
    job.losses = static_cast<uint32_t>(rows.Int(14));
    jobs.push_back(std::move(job));
  }
}

uint64_t ReservedBytes(uint64_t limit) { return std::max(limit / 8, uint64_t{64} << 20); }

StatusOr<filecoin::VanillaRequest> JobStore::ReadPayload(int64_t row, const Bytes32& digest) const {
  const StoreCalls::Call call(calls_);
  if (options_.seam) options_.seam("read payload");
  CUZK_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(PayloadPath(row)));
  CUZK_ASSIGN_OR_RETURN(filecoin::VanillaRequest request, ReadRequest(file));
  if (PayloadDigest(request) != digest) return absl::DataLossError("its payload is damaged");
  return request;
}

Status JobStore::WritePayload(int64_t row, const filecoin::VanillaRequest& request) const {
  // An AtomicFile would write to what a link names.
  std::error_code error;
  if (std::filesystem::is_symlink(PayloadPath(row), error)) return ErrnoStatus(ELOOP, "write", PayloadPath(row));
  CUZK_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(PayloadPath(row), 0600));
  CUZK_RETURN_IF_ERROR(WriteRequest(request, file));
  return file.Commit();
}

StatusOr<int64_t> JobStore::Accept(const StoredJob& job) {
  const Turn turn(*this, "accept", options_.patience);
  if (!turn.mine()) {
    CUZK_RETURN_IF_ERROR(Answers(OldestCall()));
    return absl::UnavailableError("the job store is busy");
  }
  CUZK_RETURN_IF_ERROR(StillThere());
  const uint64_t bytes = job.vanilla.payload_bytes();
  uint64_t most = options_.max_payload_bytes;
  if (job.kind == filecoin::Kind::kWinning) most += ReservedBytes(most);
  if (payload_bytes_ + bytes > most) {
    return absl::ResourceExhaustedError(
        StrCat("the job store holds ", payload_bytes_, " of at most ", most, " bytes of requests"));
  }
  // The row is committed after its payload is on disk.
  CUZK_RETURN_IF_ERROR(Execute("BEGIN"));
  StatusOr<int64_t> row = Insert(job);
  Status status = row.status();
  if (status.ok()) status = WritePayload(*row, job.vanilla);
  if (status.ok()) status = Execute("COMMIT");
  if (!status.ok()) {
    (void)Execute("ROLLBACK");
    std::error_code unremoved;
    if (row.ok()) std::filesystem::remove(PayloadPath(*row), unremoved);
    return status;
  }
  std::error_code ignored;
  payload_bytes_ += std::filesystem::file_size(PayloadPath(*row), ignored);
  return row;
}

StatusOr<int64_t> JobStore::Insert(const StoredJob& job) {
  StoredJob sealed{.id = job.id, .kind = job.kind, .digest = job.digest, .submitted_ms = job.submitted_ms};
  sealed.registered_proof = job.vanilla.registered_proof;
  sealed.payload_bytes = job.vanilla.payload_bytes();
  const Bytes32 seal = SealOf(sealed);
  Statement insert(*this,
                   "INSERT INTO jobs(id,kind,proof_number,priority,digest,bytes,submitted,state,seal) "
                   "VALUES(?,?,?,?,?,?,?,?,?)");
  CUZK_RETURN_IF_ERROR(insert.BindText(job.id)
                           .Bind(static_cast<int64_t>(job.kind))
                           .Bind(static_cast<int64_t>(sealed.registered_proof))
                           .Bind(static_cast<int64_t>(job.priority))
                           .BindBlob(job.digest)
                           .Bind(static_cast<int64_t>(sealed.payload_bytes))
                           .Bind(job.submitted_ms)
                           .Bind(static_cast<int64_t>(JobState::kQueued))
                           .BindBlob(seal)
                           .Run());
  return sqlite3_last_insert_rowid(database_);
}

Status JobStore::Finish(const StoredJob& job) {
  const Turn turn(*this, "finish");
  CUZK_RETURN_IF_ERROR(StillThere());
  Statement update(*this, "UPDATE jobs SET state=?,proof=?,proof_digest=?,error=?,timings=?,finished=? WHERE row=?");
  const Bytes32 digest = Sha256(AsBytes(job.proof));
  ByteSpan timings(reinterpret_cast<const uint8_t*>(&job.timings), sizeof job.timings);
  CUZK_RETURN_IF_ERROR(update.Bind(static_cast<int64_t>(job.state))
                           .BindBlob(AsBytes(job.proof))
                           .BindBlob(digest)
                           .BindText(job.error)
                           .BindBlob(timings)
                           .Bind(job.finished_ms)
                           .Bind(job.row)
                           .Run());
  DeletePayload(job.row);
  return absl::OkStatus();
}

void JobStore::DeletePayload(int64_t row) {
  std::error_code error;
  std::filesystem::path path = PayloadPath(row);
  uint64_t bytes = std::filesystem::file_size(path, error);
  if (!error && std::filesystem::remove(path, error)) payload_bytes_ -= std::min(payload_bytes_, bytes);
}

Status JobStore::Change(const StoredJob& job) {
  const Turn turn(*this, "change");
  Statement update(*this, "UPDATE jobs SET priority=? WHERE row=?");
  return update.Bind(static_cast<int64_t>(job.priority)).Bind(job.row).Run();
}

Status JobStore::Fetched(int64_t row) {
  const Turn turn(*this, "fetched");
  return Statement(*this, "UPDATE jobs SET fetched=1 WHERE row=?").Bind(row).Run();
}

Status JobStore::Forget(int64_t row) {
  const Turn turn(*this, "forget");
  CUZK_RETURN_IF_ERROR(Statement(*this, "DELETE FROM jobs WHERE row=?").Bind(row).Run());
  DeletePayload(row);
  return absl::OkStatus();
}

}  // namespace cuzk::engine
