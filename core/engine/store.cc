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
#include "core/engine/intake.h"

namespace cuzk::engine {
namespace {

constexpr int kFormat = 1;
constexpr const char* kSchema =
    "CREATE TABLE IF NOT EXISTS jobs(row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, kind INTEGER NOT NULL,"
    " proof_number INTEGER NOT NULL, priority INTEGER NOT NULL, digest BLOB NOT NULL, bytes INTEGER NOT NULL,"
    " submitted INTEGER NOT NULL, deadline INTEGER,"
    " state INTEGER NOT NULL, proof BLOB, error TEXT, timings BLOB, fetched INTEGER NOT NULL DEFAULT 0,"
    " finished INTEGER NOT NULL DEFAULT 0, losses INTEGER NOT NULL DEFAULT 0)";
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

/// What ended, or had not.
bool IsStoredState(int64_t number) {
  const auto state = static_cast<JobState>(number);
  return number >= 0 && number <= static_cast<int64_t>(JobState::kCancelled) &&
         (state == JobState::kQueued || IsFinal(state));
}

/// Makes the folder, for this user alone; one that is there keeps its mode.
Status MakeDirectory(const std::filesystem::path& directory) {
  const std::filesystem::path leaf = directory.has_filename() ? directory : directory.parent_path();
  std::error_code error;
  if (leaf.has_parent_path()) std::filesystem::create_directories(leaf.parent_path(), error);
  if (mkdir(leaf.c_str(), 0700) == 0) return absl::OkStatus();
  const int failed = errno;
  if (failed == EEXIST && std::filesystem::is_directory(leaf, error)) return absl::OkStatus();
  return ErrnoStatus(failed, "create", directory);
}

}  // namespace

Status CheckStateDirectory(const std::filesystem::path& directory) {
  struct stat info {};
  constexpr mode_t kOthers = S_IWGRP | S_IRWXO;
  if (stat(directory.c_str(), &info) != 0 || (info.st_mode & kOthers) == 0) return absl::OkStatus();
  char mode[8];
  std::snprintf(mode, sizeof mode, "0%o", info.st_mode & 07777);
  return absl::PermissionDeniedError(StrCat("jobs.state_directory: ", directory.string(), " has mode ", mode,
                                            ": others can look into it or write to it; chmod 0700 ",
                                            directory.string()));
}

/// A prepared statement; positions count from 1 for parameters, from 0 for columns.
class JobStore::Statement {
 public:
  Statement(JobStore& store, const char* sql) : store_(store) {
    prepared_ = sqlite3_prepare_v2(store.database_, sql, -1, &statement_, nullptr) == SQLITE_OK;
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& Bind(int64_t value) {
    sqlite3_bind_int64(statement_, ++position_, value);
    return *this;
  }
  Statement& Bind(const std::optional<int64_t>& value) {
    if (value) return Bind(*value);
    sqlite3_bind_null(statement_, ++position_);
    return *this;
  }
  /// The bytes must live until the statement is destroyed.
  Statement& BindText(std::string_view text) {
    sqlite3_bind_text64(statement_, ++position_, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    return *this;
  }
  Statement& BindBlob(ByteSpan bytes) {
    sqlite3_bind_blob64(statement_, ++position_, bytes.data(), bytes.size(), SQLITE_STATIC);
    return *this;
  }
  /// True with a row, false at the end.
  StatusOr<bool> Step() {
    int code = prepared_ ? sqlite3_step(statement_) : SQLITE_ERROR;
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return store_.Error("statement");
  }
  Status Run() { return Step().status(); }

  int64_t Int(int column) { return sqlite3_column_int64(statement_, column); }
  bool IsNull(int column) { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string Bytes(int column) {
    const void* data = sqlite3_column_blob(statement_, column);
    int size = sqlite3_column_bytes(statement_, column);
    return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), static_cast<size_t>(size));
  }

 private:
  JobStore& store_;
  sqlite3_stmt* statement_ = nullptr;
  bool prepared_ = false;
  int position_ = 0;
};

Status JobStore::Error(std::string_view what) const {
  std::string text = StrCat("job store in ", options_.directory.string(), ": ", what, ": ", sqlite3_errmsg(database_));
  switch (sqlite3_errcode(database_)) {
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(text);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(text);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::FailedPreconditionError(text);
    default:
      return absl::InternalError(text);
  }
}

Status JobStore::Execute(const char* sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return Error(sql);
  return absl::OkStatus();
}

StatusOr<std::unique_ptr<JobStore>> JobStore::Open(const StoreOptions& options) {
  std::unique_ptr<JobStore> store(new JobStore(options));
  CUZK_RETURN_IF_ERROR(store->Advised(store->Begin()));
  return store;
}

Status JobStore::Advised(const Status& status) const {
  // These say what to do themselves: a store that another process has open is not to be moved away.
  if (status.ok() || absl::IsPermissionDenied(status) || absl::IsResourceExhausted(status) ||
      absl::IsFailedPrecondition(status)) {
    return status;
  }
  return absl::FailedPreconditionError(StrCat(
      status.message(), "; mend ", options_.directory.string(),
      " or move it away (jobs that wait in it are lost then), or choose another place with jobs.state_directory"));
}

Status JobStore::Begin() {
  CUZK_RETURN_IF_ERROR(MakeDirectory(options_.directory));
  CUZK_RETURN_IF_ERROR(CheckStateDirectory(options_.directory));
  std::filesystem::path lock = options_.directory / "lock";
  lock_file_ = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_file_ < 0) return ErrnoStatus(errno, "open", lock);
  if (flock(lock_file_, LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(StrCat("another process uses the job store in ", options_.directory.string()));
  }
  CUZK_RETURN_IF_ERROR(OpenDatabase());
  CUZK_RETURN_IF_ERROR(OpenMarks());
  return DeleteOrphans();
}

Status JobStore::OpenDatabase() {
  std::filesystem::path path = options_.directory / "jobs.sqlite";
  int made = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);  // so that nobody else can read it
  if (made < 0) return ErrnoStatus(errno, "open", path);
  close(made);
  if (sqlite3_open_v2(path.c_str(), &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK) {
    return Error("open");
  }
  CUZK_RETURN_IF_ERROR(Execute("PRAGMA journal_mode=WAL"));
  CUZK_RETURN_IF_ERROR(Execute("PRAGMA synchronous=FULL"));
  int64_t format;
  {
    Statement version(*this, "PRAGMA user_version");
    CUZK_RETURN_IF_ERROR(version.Run());
    format = version.Int(0);
  }
  if (format != 0 && format != kFormat) {
    return absl::FailedPreconditionError(
        StrCat("the job store ", path.string(), " has format ", format, "; this program writes ", kFormat));
  }
  CUZK_RETURN_IF_ERROR(Execute(kSchema));
  bool counts_losses;
  {
    // A store of the same format may lack what earlier programs did not need and do not miss.
    Statement column(*this, "SELECT 1 FROM pragma_table_info('jobs') WHERE name='losses'");
    CUZK_ASSIGN_OR_RETURN(counts_losses, column.Step());
  }
  if (!counts_losses) CUZK_RETURN_IF_ERROR(Execute("ALTER TABLE jobs ADD COLUMN losses INTEGER NOT NULL DEFAULT 0"));
  return Execute(StrCat("PRAGMA user_version=", kFormat).c_str());
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
  std::lock_guard lock(mutex_);
  StatusOr<std::vector<StoredJob>> jobs = ReadRows();
  return jobs.ok() ? std::move(jobs) : Advised(jobs.status());
}

StatusOr<std::vector<StoredJob>> JobStore::ReadRows() {
  std::vector<StoredJob> jobs;
  Statement rows(*this,
                 "SELECT row,id,kind,priority,digest,submitted,deadline,state,proof,error,timings,fetched,finished,"
                 "proof_number,bytes,losses FROM jobs ORDER BY row");
  for (;;) {
    CUZK_ASSIGN_OR_RETURN(bool more, rows.Step());
    if (!more) return jobs;
    StoredJob job{.row = rows.Int(0), .id = rows.Bytes(1)};
    job.kind = static_cast<filecoin::Kind>(rows.Int(2));
    job.priority = static_cast<Priority>(rows.Int(3));
    std::string digest = rows.Bytes(4), timings = rows.Bytes(10);
    // The numbers of what follows are looked up in tables; a disk may have changed them.
    if (filecoin::FindKind(static_cast<uint64_t>(rows.Int(2))) == nullptr ||
        rows.Int(3) < static_cast<int64_t>(Priority::kLow) || rows.Int(3) > static_cast<int64_t>(Priority::kCritical) ||
        !IsStoredState(rows.Int(7)) || digest.size() != job.digest.size()) {
      return absl::DataLossError(
          StrCat("job store in ", options_.directory.string(), ": row ", job.row, " of jobs.sqlite is damaged"));
    }
    std::memcpy(job.digest.data(), digest.data(), job.digest.size());
    std::memcpy(&job.timings, timings.data(), std::min(timings.size(), sizeof job.timings));
    job.submitted_ms = rows.Int(5);
    if (!rows.IsNull(6)) job.deadline_ms = rows.Int(6);
    job.state = static_cast<JobState>(rows.Int(7));
    job.proof = rows.Bytes(8);
    job.error = rows.Bytes(9);
    job.fetched = rows.Int(11) != 0;
    job.finished_ms = rows.Int(12);
    job.registered_proof = static_cast<uint64_t>(rows.Int(13));
    job.payload_bytes = static_cast<uint64_t>(rows.Int(14));
    job.losses = static_cast<uint32_t>(rows.Int(15));
    jobs.push_back(std::move(job));
  }
}

StatusOr<filecoin::VanillaRequest> JobStore::ReadPayload(int64_t row, const Bytes32& digest) const {
  CUZK_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(PayloadPath(row)));
  CUZK_ASSIGN_OR_RETURN(filecoin::VanillaRequest request, ReadRequest(file));
  if (PayloadDigest(request) != digest) return absl::DataLossError("its payload is damaged");
  return request;
}

Status JobStore::WritePayload(int64_t row, const filecoin::VanillaRequest& request) const {
  CUZK_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(PayloadPath(row), 0600));
  CUZK_RETURN_IF_ERROR(WriteRequest(request, file));
  return file.Commit();
}

StatusOr<int64_t> JobStore::Accept(const StoredJob& job) {
  std::lock_guard lock(mutex_);
  uint64_t bytes = job.vanilla.payload_bytes();
  if (payload_bytes_ + bytes > options_.max_payload_bytes) {
    return absl::ResourceExhaustedError(StrCat("the job store holds ", payload_bytes_, " of at most ",
                                               options_.max_payload_bytes, " bytes of requests"));
  }
  // The row is committed after its payload is on disk.
  CUZK_RETURN_IF_ERROR(Execute("BEGIN"));
  Status status;
  int64_t row = 0;
  {
    Statement insert(*this,
                     "INSERT INTO jobs(id,kind,proof_number,priority,digest,bytes,submitted,deadline,state) "
                     "VALUES(?,?,?,?,?,?,?,?,?)");
    status = insert.BindText(job.id)
                 .Bind(static_cast<int64_t>(job.kind))
                 .Bind(static_cast<int64_t>(job.vanilla.registered_proof))
                 .Bind(static_cast<int64_t>(job.priority))
                 .BindBlob(job.digest)
                 .Bind(static_cast<int64_t>(bytes))
                 .Bind(job.submitted_ms)
                 .Bind(job.deadline_ms)
                 .Bind(static_cast<int64_t>(JobState::kQueued))
                 .Run();
    row = sqlite3_last_insert_rowid(database_);
  }
  if (status.ok()) status = WritePayload(row, job.vanilla);
  if (status.ok()) status = Execute("COMMIT");
  if (!status.ok()) {
    (void)Execute("ROLLBACK");
    std::error_code unremoved;
    std::filesystem::remove(PayloadPath(row), unremoved);
    return status;
  }
  std::error_code ignored;
  payload_bytes_ += std::filesystem::file_size(PayloadPath(row), ignored);
  return row;
}

Status JobStore::Finish(const StoredJob& job) {
  std::lock_guard lock(mutex_);
  Statement update(*this, "UPDATE jobs SET state=?,proof=?,error=?,timings=?,finished=? WHERE row=?");
  ByteSpan timings(reinterpret_cast<const uint8_t*>(&job.timings), sizeof job.timings);
  CUZK_RETURN_IF_ERROR(update.Bind(static_cast<int64_t>(job.state))
                           .BindBlob(AsBytes(job.proof))
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
  std::lock_guard lock(mutex_);
  Statement update(*this, "UPDATE jobs SET priority=?,deadline=? WHERE row=?");
  return update.Bind(static_cast<int64_t>(job.priority)).Bind(job.deadline_ms).Bind(job.row).Run();
}

Status JobStore::Fetched(int64_t row) {
  std::lock_guard lock(mutex_);
  return Statement(*this, "UPDATE jobs SET fetched=1 WHERE row=?").Bind(row).Run();
}

Status JobStore::Forget(int64_t row) {
  std::lock_guard lock(mutex_);
  CUZK_RETURN_IF_ERROR(Statement(*this, "DELETE FROM jobs WHERE row=?").Bind(row).Run());
  DeletePayload(row);
  return absl::OkStatus();
}

}  // namespace cuzk::engine
