#include "core/store/database.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/base/file.h"

namespace cuzk::store {
namespace {

/// How long a statement waits for another program, such as one that copies the database.
constexpr int kBusyMs = 3000;

}  // namespace

StatusOr<std::unique_ptr<Database>> Database::Open(const std::filesystem::path& directory) {
  std::unique_ptr<Database> database(new Database(directory));
  const std::filesystem::path path = database->path();
  const int made = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);  // SQLite would use the umask
  if (made < 0) return ErrnoStatus(errno, "open", path);
  close(made);
  CUZK_RETURN_IF_ERROR(database->Connect());
  CUZK_RETURN_IF_ERROR(database->Execute("PRAGMA journal_mode=WAL"));
  CUZK_RETURN_IF_ERROR(database->Execute("PRAGMA synchronous=FULL"));
  // The journal is checkpointed at every thousand pages. What a long reader has made of it goes when it begins anew.
  CUZK_RETURN_IF_ERROR(database->Execute(StrCat("PRAGMA journal_size_limit=", kJournalBytes)));
  return database;
}

StatusOr<std::unique_ptr<Database>> Database::OpenToRead(const std::filesystem::path& directory) {
  std::unique_ptr<Database> database(new Database(directory));
  CUZK_RETURN_IF_ERROR(database->Connect());
  // Not opened as read-only: a reader of a write-ahead log takes part in its locks.
  CUZK_RETURN_IF_ERROR(database->Execute("PRAGMA query_only=1"));
  return database;
}

Status Database::Connect() {
  std::error_code error;  // the folder itself may be behind links, which SQLite would refuse as well
  const std::filesystem::path folder = std::filesystem::canonical(directory_, error);
  if (error) return ErrnoStatus(error.value(), "open", directory_);
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
  if (sqlite3_open_v2((folder / "jobs.sqlite").c_str(), &handle_, kFlags, nullptr) != SQLITE_OK) return Error("open");
  sqlite3_busy_timeout(handle_, kBusyMs);
  return absl::OkStatus();
}

Database::~Database() {
  if (handle_ != nullptr) sqlite3_close(handle_);
}

Status Database::Error(std::string_view what) const {
  std::string text = StrCat("job store in ", directory_.string(), ": ", what, ": ", sqlite3_errmsg(handle_));
  switch (sqlite3_errcode(handle_)) {
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(text);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(text);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::AbortedError(text);
    default:
      return absl::InternalError(text);
  }
}

Status Database::Execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return Error(sql);
  return absl::OkStatus();
}

Status TryToLock(const std::filesystem::path& directory) {
  sqlite3* handle = nullptr;
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  Status locked;
  if (sqlite3_open_v2((directory / "jobs.sqlite").c_str(), &handle, kFlags, nullptr) == SQLITE_OK) {
    sqlite3_busy_timeout(handle, kBusyMs);
    const int code = sqlite3_exec(handle, "BEGIN IMMEDIATE; ROLLBACK", nullptr, nullptr, nullptr);
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
      locked = absl::AbortedError(StrCat("another program has ", (directory / "jobs.sqlite").string(), " locked"));
    }
  }
  sqlite3_close(handle);
  return locked;
}

Statement::Statement(Database& database, const std::string& sql) : database_(database) {
  prepared_ = sqlite3_prepare_v2(database.handle_, sql.c_str(), -1, &statement_, nullptr) == SQLITE_OK;
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::Bound(int code) {
  bound_ = bound_ && (!prepared_ || code == SQLITE_OK);
  return *this;
}

Statement& Statement::Bind(int64_t value) { return Bound(sqlite3_bind_int64(statement_, ++position_, value)); }

Statement& Statement::BindText(std::string_view text) {
  return Bound(sqlite3_bind_text64(statement_, ++position_, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

Statement& Statement::BindBlob(ByteSpan bytes) {
  return Bound(sqlite3_bind_blob64(statement_, ++position_, bytes.data(), bytes.size(), SQLITE_STATIC));
}

StatusOr<bool> Statement::Step() {
  if (!bound_) return database_.Error("a value of a statement");  // no call since then: the message is still its own
  const int code = prepared_ ? sqlite3_step(statement_) : SQLITE_ERROR;
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_.Error("statement");
}

std::string Statement::Bytes(int column) {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), static_cast<size_t>(size));
}

}  // namespace cuzk::store
