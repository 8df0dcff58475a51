#include "core/store/history.h"

#include <algorithm>
#include <array>

namespace cuzk::store {
namespace {

/// What one Remember drops at most, so that a history that became much smaller is dropped step by step.
constexpr int64_t kDroppedAtOnce = 1000;

/// The columns in the order of Insert and of RowOf.
constexpr const char* kColumns =
    "number,id,kind,proof_number,priority,miner,sector,post_partition,circuit,device,partitions,losses,submitted,"
    "finished,state,stage,error,queued_ms,parsing_ms,loading_ms,synthesis_ms,waiting_ms,device_ms,finishing_ms,"
    "verifying_ms,total_ms";

/// In the order of the columns.
template <class Times>
auto Each(Times& times) {
  return std::array{&times.queued_ms, &times.parsing_ms,   &times.loading_ms,   &times.synthesis_ms, &times.waiting_ms,
                    &times.device_ms, &times.finishing_ms, &times.verifying_ms, &times.total_ms};
}

EndedJob RowOf(Statement& row) {
  EndedJob job{.number = row.Int(0), .id = row.Bytes(1)};
  // A number that is no kind comes from a disk that changed it.
  const bool known = filecoin::FindKind(static_cast<uint64_t>(row.Int(2))) != nullptr;
  job.kind = known ? static_cast<filecoin::Kind>(row.Int(2)) : filecoin::Kinds()[0].kind;
  job.registered_proof = static_cast<uint64_t>(row.Int(3));
  job.priority = static_cast<uint8_t>(row.Int(4));
  job.subject = {.miner = static_cast<uint64_t>(row.Int(5)),
                 .sector = static_cast<uint64_t>(row.Int(6)),
                 .partition = static_cast<uint32_t>(row.Int(7))};
  job.circuit = row.Bytes(8);
  job.device = row.Bytes(9);
  job.partitions = static_cast<uint32_t>(row.Int(10));
  job.losses = static_cast<uint32_t>(row.Int(11));
  job.submitted_ms = row.Int(12);
  job.finished_ms = row.Int(13);
  const auto state = static_cast<RowState>(row.Int(14));
  job.state = state == RowState::kCompleted || state == RowState::kCancelled ? state : RowState::kFailed;
  job.stage = row.Bytes(15);
  job.error = row.Bytes(16);
  int column = 17;
  for (uint64_t* time : Each(job.times)) *time = static_cast<uint64_t>(row.Int(column++));
  return job;
}

/// Commits that are not flushed one by one, from construction to destruction.
class Unflushed {
 public:
  explicit Unflushed(Database& database) : database_(database) { (void)database.Execute("PRAGMA synchronous=NORMAL"); }
  ~Unflushed() { (void)database_.Execute("PRAGMA synchronous=FULL"); }
  Unflushed(const Unflushed&) = delete;
  Unflushed& operator=(const Unflushed&) = delete;

 private:
  Database& database_;
};

Status CountTotal(Database& database, const EndedJob& job) {
  Statement total(
      database, "INSERT INTO totals(kind,state,jobs) VALUES(?,?,1) ON CONFLICT(kind,state) DO UPDATE SET jobs=jobs+1");
  return total.Bind(static_cast<int64_t>(job.kind)).Bind(static_cast<int64_t>(job.state)).Run();
}

}  // namespace

bool HistoryFilter::Admits(const EndedJob& job) const {
  return (!kind || job.kind == *kind) && (!state || job.state == *state) && (!since_ms || job.finished_ms >= *since_ms);
}

Status HistoryWriter::Adopt() {
  // The states of HasEnded. Rows are taken once: `remembered` says so.
  constexpr const char* kTotals =
      "INSERT INTO totals(kind,state,jobs) SELECT kind,state,count(*) FROM jobs WHERE state<>0 AND remembered=0 "
      "GROUP BY kind,state ON CONFLICT(kind,state) DO UPDATE SET jobs=jobs+excluded.jobs";
  constexpr const char* kJobs =
      "INSERT INTO history(id,kind,proof_number,priority,miner,sector,post_partition,circuit,device,partitions,losses,"
      "submitted,finished,state,stage,error,queued_ms,loading_ms,synthesis_ms,device_ms,total_ms) "
      "SELECT id,kind,proof_number,priority,miner,sector,post_partition,'','',0,losses,submitted,finished,state,'',"
      "coalesce(error,''),queue_ms,load_ms,synthesis_ms,device_ms,CASE WHEN total_ms>0 THEN total_ms "
      "ELSE max(0,finished-submitted) END FROM jobs WHERE state<>0 AND remembered=0 ORDER BY finished,row";
  CUZK_RETURN_IF_ERROR(database_.Execute("BEGIN IMMEDIATE"));
  Status status;
  for (const char* sql : {kTotals, kJobs, "UPDATE jobs SET remembered=1 WHERE state<>0 AND remembered=0", "COMMIT"}) {
    if (status.ok()) status = database_.Execute(sql);
  }
  if (!status.ok()) (void)database_.Execute("ROLLBACK");
  return status;
}

Status HistoryWriter::Remember(std::span<const EndedJob> jobs, std::span<const NotedError> errors,
                               const HistoryLimits& limits, int64_t now_ms) {
  const Unflushed unflushed(database_);
  // Of a transaction that has begun to read, SQLite makes no writer while another program writes: it does not wait.
  CUZK_RETURN_IF_ERROR(database_.Execute("BEGIN IMMEDIATE"));
  Status status = Write(jobs, errors);
  if (status.ok()) status = Prune(limits, now_ms);
  if (status.ok()) status = database_.Execute("COMMIT");
  if (status.ok()) return status;
  (void)database_.Execute("ROLLBACK");
  kept_.reset();
  return status;
}

Status HistoryWriter::Write(std::span<const EndedJob> jobs, std::span<const NotedError> errors) {
  CUZK_RETURN_IF_ERROR(Count());
  for (const EndedJob& job : jobs) {
    CUZK_RETURN_IF_ERROR(Insert(job));
    CUZK_RETURN_IF_ERROR(CountTotal(database_, job));
    ++*kept_;
    if (job.row == 0) continue;
    CUZK_RETURN_IF_ERROR(Statement(database_, "UPDATE jobs SET remembered=1 WHERE row=?").Bind(job.row).Run());
  }
  for (const NotedError& error : errors) {
    Statement insert(database_, "INSERT OR REPLACE INTO errors(number,at,text) VALUES(?,?,?)");
    CUZK_RETURN_IF_ERROR(insert.Bind(error.number).Bind(error.at_ms).BindText(error.text).Run());
  }
  if (errors.empty()) return absl::OkStatus();
  Statement old(database_,
                "DELETE FROM errors WHERE number<=(SELECT number FROM errors ORDER BY number DESC LIMIT 1 OFFSET ?)");
  return old.Bind(static_cast<int64_t>(kErrorsKept)).Run();
}

Status HistoryWriter::Insert(const EndedJob& job) {
  Statement insert(database_, StrCat("INSERT INTO history(", kColumns,
                                     ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  insert.Bind(job.number).BindText(job.id).Bind(static_cast<int64_t>(job.kind));
  insert.Bind(static_cast<int64_t>(job.registered_proof)).Bind(job.priority);
  insert.Bind(static_cast<int64_t>(job.subject.miner)).Bind(static_cast<int64_t>(job.subject.sector));
  insert.Bind(job.subject.partition).BindText(job.circuit).BindText(job.device);
  insert.Bind(job.partitions).Bind(job.losses).Bind(job.submitted_ms).Bind(job.finished_ms);
  insert.Bind(static_cast<int64_t>(job.state)).BindText(job.stage).BindText(job.error);
  for (const uint64_t* time : Each(job.times)) insert.Bind(static_cast<int64_t>(*time));
  return insert.Run();
}

Status HistoryWriter::Count() {
  if (kept_) return absl::OkStatus();
  Statement count(database_, "SELECT count(*) FROM history");
  CUZK_RETURN_IF_ERROR(count.Run());
  kept_ = static_cast<uint64_t>(count.Int(0));
  return absl::OkStatus();
}

Status HistoryWriter::Prune(const HistoryLimits& limits, int64_t now_ms) {
  Statement old(database_, "DELETE FROM history WHERE number IN (SELECT number FROM history WHERE finished<? LIMIT ?)");
  CUZK_RETURN_IF_ERROR(old.Bind(now_ms - limits.age.count()).Bind(kDroppedAtOnce).Run());
  *kept_ -= static_cast<uint64_t>(database_.Changes());
  if (*kept_ <= limits.most) return absl::OkStatus();
  const int64_t over = std::min(static_cast<int64_t>(*kept_ - limits.most), kDroppedAtOnce);
  Statement beyond(database_,
                   "DELETE FROM history WHERE number IN (SELECT number FROM history ORDER BY number LIMIT ?)");
  CUZK_RETURN_IF_ERROR(beyond.Bind(over).Run());
  *kept_ -= static_cast<uint64_t>(database_.Changes());
  return absl::OkStatus();
}

StatusOr<std::unique_ptr<HistoryReader>> HistoryReader::Open(const std::filesystem::path& directory) {
  CUZK_ASSIGN_OR_RETURN(std::unique_ptr<Database> database, Database::OpenToRead(directory));
  return std::unique_ptr<HistoryReader>(new HistoryReader(std::move(database)));
}

std::string ListQuery(const HistoryFilter& filter, bool after) {
  std::string where;
  auto add = [&](std::string_view condition) { where += StrCat(where.empty() ? " WHERE " : " AND ", condition); };
  if (filter.state) add("state=?");
  // With a state there are few enough to look at their kinds.
  if (filter.kind) add(filter.state ? "+kind=?" : "kind=?");
  if (filter.since_ms) add("finished>=?");
  if (after) add("(finished,number)<(?,?)");
  return StrCat("SELECT ", kColumns, " FROM history", where, " ORDER BY finished DESC,number DESC LIMIT ?");
}

std::string FindQuery() { return StrCat("SELECT ", kColumns, " FROM history WHERE id=? ORDER BY number DESC LIMIT 1"); }

StatusOr<std::vector<EndedJob>> HistoryReader::List(const HistoryFilter& filter, std::optional<HistoryPlace> after,
                                                    size_t most) const {
  MutexLock lock(mutex_);
  Statement rows(*database_, ListQuery(filter, after.has_value()));
  if (filter.state) rows.Bind(static_cast<int64_t>(*filter.state));
  if (filter.kind) rows.Bind(static_cast<int64_t>(*filter.kind));
  if (filter.since_ms) rows.Bind(*filter.since_ms);
  if (after) rows.Bind(after->finished_ms).Bind(after->number);
  rows.Bind(static_cast<int64_t>(most));
  std::vector<EndedJob> jobs;
  for (;;) {
    CUZK_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return jobs;
    jobs.push_back(RowOf(rows));
  }
}

StatusOr<std::optional<EndedJob>> HistoryReader::Find(const std::string& id) const {
  MutexLock lock(mutex_);
  Statement row(*database_, FindQuery());
  CUZK_ASSIGN_OR_RETURN(const bool found, row.BindText(id).Step());
  return found ? std::optional(RowOf(row)) : std::nullopt;
}

StatusOr<Totals> HistoryReader::ReadTotals() const {
  MutexLock lock(mutex_);
  Totals totals;
  Statement rows(*database_, "SELECT kind,state,jobs FROM totals");
  for (;;) {
    CUZK_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return totals;
    if (filecoin::FindKind(static_cast<uint64_t>(rows.Int(0))) == nullptr) continue;
    totals[{static_cast<filecoin::Kind>(rows.Int(0)), static_cast<RowState>(rows.Int(1))}] =
        static_cast<uint64_t>(rows.Int(2));
  }
}

StatusOr<std::vector<NotedError>> HistoryReader::Errors() const {
  MutexLock lock(mutex_);
  std::vector<NotedError> errors;
  Statement rows(*database_, "SELECT number,at,text FROM errors ORDER BY number DESC LIMIT ?");
  rows.Bind(static_cast<int64_t>(kErrorsKept));
  for (;;) {
    CUZK_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return errors;
    errors.push_back({.number = rows.Int(0), .at_ms = rows.Int(1), .text = rows.Bytes(2)});
  }
}

StatusOr<int64_t> HistoryReader::LastNumber() const {
  MutexLock lock(mutex_);
  Statement last(*database_,
                 "SELECT max(coalesce((SELECT max(number) FROM history),0),"
                 "coalesce((SELECT max(number) FROM errors),0))");
  CUZK_RETURN_IF_ERROR(last.Run());
  return last.Int(0);
}

}  // namespace cuzk::store
