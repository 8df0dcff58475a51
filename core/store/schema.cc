#include "core/store/schema.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/hash.h"
#include "core/store/row.h"
#include "core/store/seal.h"

namespace cuzk::store {
namespace {

constexpr const char* kJobs =
    "CREATE TABLE IF NOT EXISTS jobs(row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, kind INTEGER NOT NULL,"
    " proof_number INTEGER NOT NULL, priority INTEGER NOT NULL, digest BLOB NOT NULL, bytes INTEGER NOT NULL,"
    " submitted INTEGER NOT NULL,"
    " state INTEGER NOT NULL, proof BLOB, error TEXT, fetched INTEGER NOT NULL DEFAULT 0,"
    " finished INTEGER NOT NULL DEFAULT 0, losses INTEGER NOT NULL DEFAULT 0, proof_digest BLOB,"
    " seal BLOB, queue_ms INTEGER NOT NULL DEFAULT 0, load_ms INTEGER NOT NULL DEFAULT 0,"
    " synthesis_ms INTEGER NOT NULL DEFAULT 0, device_ms INTEGER NOT NULL DEFAULT 0,"
    " total_ms INTEGER NOT NULL DEFAULT 0, miner INTEGER NOT NULL DEFAULT 0, sector INTEGER NOT NULL DEFAULT 0,"
    " post_partition INTEGER NOT NULL DEFAULT 0, remembered INTEGER NOT NULL DEFAULT 0)";

/// The history, its totals and the last errors. Each index answers one kind of question in the order of the list.
constexpr const char* kHistory[] = {
    "CREATE TABLE IF NOT EXISTS history(number INTEGER PRIMARY KEY, id TEXT NOT NULL, kind INTEGER NOT NULL,"
    " proof_number INTEGER NOT NULL, priority INTEGER NOT NULL, miner INTEGER NOT NULL, sector INTEGER NOT NULL,"
    " post_partition INTEGER NOT NULL, circuit TEXT NOT NULL, device TEXT NOT NULL, partitions INTEGER NOT NULL,"
    " losses INTEGER NOT NULL, submitted INTEGER NOT NULL, finished INTEGER NOT NULL, state INTEGER NOT NULL,"
    " stage TEXT NOT NULL, error TEXT NOT NULL, queued_ms INTEGER NOT NULL DEFAULT 0,"
    " parsing_ms INTEGER NOT NULL DEFAULT 0, loading_ms INTEGER NOT NULL DEFAULT 0,"
    " synthesis_ms INTEGER NOT NULL DEFAULT 0, waiting_ms INTEGER NOT NULL DEFAULT 0,"
    " device_ms INTEGER NOT NULL DEFAULT 0, finishing_ms INTEGER NOT NULL DEFAULT 0,"
    " verifying_ms INTEGER NOT NULL DEFAULT 0, total_ms INTEGER NOT NULL DEFAULT 0)",
    "CREATE INDEX IF NOT EXISTS history_finished ON history(finished,number)",
    "CREATE INDEX IF NOT EXISTS history_kind ON history(kind,finished,number)",
    "CREATE INDEX IF NOT EXISTS history_state ON history(state,finished,number)",
    "CREATE INDEX IF NOT EXISTS history_id ON history(id,number)",
    "CREATE TABLE IF NOT EXISTS totals(kind INTEGER NOT NULL, state INTEGER NOT NULL, jobs INTEGER NOT NULL,"
    " PRIMARY KEY(kind,state)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS errors(number INTEGER PRIMARY KEY, at INTEGER NOT NULL, text TEXT NOT NULL)",
};

StatusOr<bool> HasColumn(Database& database, const char* name) {
  Statement column(database, "SELECT 1 FROM pragma_table_info('jobs') WHERE name=?");
  return column.BindText(name).Step();
}

Status AddColumn(Database& database, const char* name, const char* type) {
  CUZK_ASSIGN_OR_RETURN(const bool there, HasColumn(database, name));
  return there ? absl::OkStatus() : database.Execute(StrCat("ALTER TABLE jobs ADD COLUMN ", name, " ", type));
}

Status DropColumn(Database& database, const char* name) {
  CUZK_ASSIGN_OR_RETURN(const bool there, HasColumn(database, name));
  return there ? database.Execute(StrCat("ALTER TABLE jobs DROP COLUMN ", name)) : absl::OkStatus();
}

/// Rows with a value that was computed for each of them.
using Values = std::vector<std::pair<int64_t, Bytes32>>;

Status SetDigests(Database& database, const char* column, const Values& values) {
  for (const auto& [row, digest] : values) {
    Statement update(database, StrCat("UPDATE jobs SET ", column, "=? WHERE row=?"));
    CUZK_RETURN_IF_ERROR(update.BindBlob(digest).Bind(row).Run());
  }
  return absl::OkStatus();
}

/// Format 2: a digest of each proof, and how often a job was lost.
Status AddProofDigests(Database& database) {
  CUZK_RETURN_IF_ERROR(AddColumn(database, "losses", "INTEGER NOT NULL DEFAULT 0"));
  CUZK_RETURN_IF_ERROR(AddColumn(database, "proof_digest", "BLOB"));
  Values digests;
  {
    Statement rows(database, "SELECT row,proof FROM jobs WHERE state=?");
    rows.Bind(static_cast<int64_t>(RowState::kCompleted));
    for (;;) {
      CUZK_ASSIGN_OR_RETURN(const bool more, rows.Step());
      if (!more) break;
      digests.emplace_back(rows.Int(0), Sha256(AsBytes(rows.Bytes(1))));
    }
  }
  return SetDigests(database, "proof_digest", digests);
}

/// Format 3: a digest of what never changes in a row; deadlines are no longer kept.
Status AddSeals(Database& database) {
  CUZK_RETURN_IF_ERROR(AddColumn(database, "seal", "BLOB"));
  CUZK_RETURN_IF_ERROR(DropColumn(database, "deadline"));
  Values seals;
  {
    Statement rows(database, "SELECT row,id,kind,digest,proof_number,bytes,submitted FROM jobs");
    for (;;) {
      CUZK_ASSIGN_OR_RETURN(const bool more, rows.Step());
      if (!more) break;
      StoredJob job{.id = rows.Bytes(1), .kind = static_cast<filecoin::Kind>(rows.Int(2))};
      const std::string digest = rows.Bytes(3);
      std::memcpy(job.digest.data(), digest.data(), std::min(digest.size(), job.digest.size()));
      job.registered_proof = static_cast<uint64_t>(rows.Int(4));
      job.payload_bytes = static_cast<uint64_t>(rows.Int(5));
      job.submitted_ms = rows.Int(6);
      seals.emplace_back(rows.Int(0), SealOf(job));
    }
  }
  return SetDigests(database, "seal", seals);
}

/// Format 4: the times of the stages are columns. Before, the column `timings` held the five numbers in the bytes of a
/// program on a little-endian machine, in this order.
Status SplitTimings(Database& database) {
  constexpr const char* kColumns[] = {"queue_ms", "load_ms", "synthesis_ms", "device_ms", "total_ms"};
  for (const char* column : kColumns) {
    CUZK_RETURN_IF_ERROR(AddColumn(database, column, "INTEGER NOT NULL DEFAULT 0"));
  }
  CUZK_ASSIGN_OR_RETURN(const bool packed, HasColumn(database, "timings"));
  if (!packed) return absl::OkStatus();
  std::vector<std::pair<int64_t, std::string>> timings;
  {
    Statement rows(database, "SELECT row,timings FROM jobs WHERE length(timings)=40");
    for (;;) {
      CUZK_ASSIGN_OR_RETURN(const bool more, rows.Step());
      if (!more) break;
      timings.emplace_back(rows.Int(0), rows.Bytes(1));
    }
  }
  for (const auto& [row, bytes] : timings) {
    Statement update(database,
                     "UPDATE jobs SET queue_ms=?,load_ms=?,synthesis_ms=?,device_ms=?,total_ms=? WHERE row=?");
    for (size_t i = 0; i < std::size(kColumns); ++i) {
      update.Bind(static_cast<int64_t>(LoadLe<uint64_t>(AsBytes(bytes).data() + 8 * i)));
    }
    CUZK_RETURN_IF_ERROR(update.Bind(row).Run());
  }
  return DropColumn(database, "timings");
}

/// Format 5: the history. Jobs that ended before have no place in it yet: the opened store takes them in.
Status AddHistory(Database& database) {
  for (const char* column : {"miner", "sector", "post_partition", "remembered"}) {
    CUZK_RETURN_IF_ERROR(AddColumn(database, column, "INTEGER NOT NULL DEFAULT 0"));
  }
  for (const char* sql : kHistory) CUZK_RETURN_IF_ERROR(database.Execute(sql));
  return absl::OkStatus();
}

/// By the format that they make. Each leaves alone what is there already.
constexpr struct {
  int format;
  Status (*make)(Database&);
} kSteps[] = {{2, AddProofDigests}, {3, AddSeals}, {4, SplitTimings}, {5, AddHistory}};
static_assert(std::end(kSteps)[-1].format == kFormat);

Status TakeSteps(Database& database, int64_t from) {
  CUZK_RETURN_IF_ERROR(database.Execute(kJobs));
  for (const auto& step : kSteps) {
    if (from < step.format) CUZK_RETURN_IF_ERROR(step.make(database));
  }
  CUZK_RETURN_IF_ERROR(database.Execute(StrCat("PRAGMA user_version=", kFormat)));
  return database.Execute("COMMIT");
}

}  // namespace

Status BringUpToDate(Database& database) {
  int64_t format = 0;
  {
    Statement version(database, "PRAGMA user_version");
    CUZK_RETURN_IF_ERROR(version.Run());
    format = version.Int(0);
  }
  if (format > kFormat || format < 0) {
    return absl::FailedPreconditionError(
        StrCat("the job store ", database.path().string(), " has format ", format, "; this program writes ", kFormat));
  }
  if (format == kFormat) return absl::OkStatus();
  CUZK_RETURN_IF_ERROR(database.Execute("BEGIN IMMEDIATE"));
  Status status = TakeSteps(database, format);
  if (!status.ok()) (void)database.Execute("ROLLBACK");
  return status;
}

}  // namespace cuzk::store
