// The job store's database: its form, and what an older program left of it.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/base/hash.h"
#include "core/engine/store.h"
#include "core/engine/store_statement.h"

namespace cuzk::engine {
namespace {

/// How long a statement waits for another program, such as one that copies the database.
constexpr int kBusyMs = 3000;
constexpr int kFormat = 3;
constexpr const char* kSchema =
    "CREATE TABLE IF NOT EXISTS jobs(row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, kind INTEGER NOT NULL,"
    " proof_number INTEGER NOT NULL, priority INTEGER NOT NULL, digest BLOB NOT NULL, bytes INTEGER NOT NULL,"
    " submitted INTEGER NOT NULL,"
    " state INTEGER NOT NULL, proof BLOB, error TEXT, timings BLOB, fetched INTEGER NOT NULL DEFAULT 0,"
    " finished INTEGER NOT NULL DEFAULT 0, losses INTEGER NOT NULL DEFAULT 0, proof_digest BLOB,"
    " seal BLOB)";

}  // namespace

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
      return absl::AbortedError(text);
    default:
      return absl::InternalError(text);
  }
}

Status JobStore::Execute(const char* sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return Error(sql);
  return absl::OkStatus();
}

Status JobStore::OpenDatabase() {
  std::filesystem::path path = options_.directory / "jobs.sqlite";
  int made = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);  // so that nobody else can read it
  if (made < 0) return ErrnoStatus(errno, "open", path);
  close(made);
  std::error_code error;  // the folder itself may be behind links, which SQLite would refuse as well
  const std::filesystem::path folder = std::filesystem::canonical(options_.directory, error);
  if (error) return ErrnoStatus(error.value(), "open", options_.directory);
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
  if (sqlite3_open_v2((folder / "jobs.sqlite").c_str(), &database_, kFlags, nullptr) != SQLITE_OK) return Error("open");
  sqlite3_busy_timeout(database_, kBusyMs);
  CUZK_RETURN_IF_ERROR(Execute("PRAGMA journal_mode=WAL"));
  CUZK_RETURN_IF_ERROR(Execute("PRAGMA synchronous=FULL"));
  int64_t format;
  {
    Statement version(*this, "PRAGMA user_version");
    CUZK_RETURN_IF_ERROR(version.Run());
    format = version.Int(0);
  }
  if (format > kFormat || format < 0) {
    return absl::FailedPreconditionError(
        StrCat("the job store ", path.string(), " has format ", format, "; this program writes ", kFormat));
  }
  return format == kFormat ? absl::OkStatus() : Renew(format);
}

Status JobStore::Renew(int64_t from) {
  CUZK_RETURN_IF_ERROR(Execute("BEGIN IMMEDIATE"));
  Status status = Execute(kSchema);
  if (status.ok()) status = AddColumn("losses", "INTEGER NOT NULL DEFAULT 0");
  if (status.ok()) status = AddColumn("proof_digest", "BLOB");
  if (status.ok()) status = AddColumn("seal", "BLOB");
  if (status.ok()) status = DropColumn("deadline");  // nothing reads it
  if (status.ok() && from < 2) status = DigestProofs();
  if (status.ok()) status = SealRows();
  if (status.ok()) status = Execute(StrCat("PRAGMA user_version=", kFormat).c_str());
  if (status.ok()) status = Execute("COMMIT");
  if (!status.ok()) (void)Execute("ROLLBACK");
  return status;
}

StatusOr<bool> JobStore::HasColumn(const char* name) {
  Statement column(*this, "SELECT 1 FROM pragma_table_info('jobs') WHERE name=?");
  return column.BindText(name).Step();
}

Status JobStore::AddColumn(const char* name, const char* type) {
  CUZK_ASSIGN_OR_RETURN(const bool there, HasColumn(name));
  return there ? absl::OkStatus() : Execute(StrCat("ALTER TABLE jobs ADD COLUMN ", name, " ", type).c_str());
}

Status JobStore::DropColumn(const char* name) {
  CUZK_ASSIGN_OR_RETURN(const bool there, HasColumn(name));
  return there ? Execute(StrCat("ALTER TABLE jobs DROP COLUMN ", name).c_str()) : absl::OkStatus();
}

Status JobStore::DigestProofs() {
  std::vector<std::pair<int64_t, Bytes32>> digests;
  {
    Statement rows(*this, "SELECT row,proof FROM jobs WHERE state=?");
    rows.Bind(static_cast<int64_t>(JobState::kCompleted));
    for (;;) {
      CUZK_ASSIGN_OR_RETURN(bool more, rows.Step());
      if (!more) break;
      digests.emplace_back(rows.Int(0), Sha256(AsBytes(rows.Bytes(1))));
    }
  }
  for (const auto& [row, digest] : digests) {
    Statement update(*this, "UPDATE jobs SET proof_digest=? WHERE row=?");
    CUZK_RETURN_IF_ERROR(update.BindBlob(digest).Bind(row).Run());
  }
  return absl::OkStatus();
}

}  // namespace cuzk::engine
