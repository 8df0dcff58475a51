#include "core/store/repair.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/store/row.h"
#include "core/store/seal.h"

namespace cuzk::store {
namespace {

constexpr uint8_t kLowestPriority = 1, kNormalPriority = 2, kHighestPriority = 4;

/// A job that the disk has changed.
struct Damage {
  StoredJob job;       ///< as far as it can be read
  bool again = false;  ///< its request is whole: it is proved again
  std::string what;
};

bool IsRowState(int64_t number) {
  for (RowState state : {RowState::kUnfinished, RowState::kCompleted, RowState::kFailed, RowState::kCancelled}) {
    if (number == static_cast<int64_t>(state)) return true;
  }
  return false;
}

/// Whether the row that the statement stands at is damaged; what of it can be read is in `damage`.
bool IsDamaged(Statement& rows, const PayloadFiles& payloads, Damage* damage) {
  StoredJob& job = damage->job;
  job.row = rows.Int(0);
  job.id = rows.Bytes(1);
  const bool known = filecoin::FindKind(static_cast<uint64_t>(rows.Int(2))) != nullptr;
  job.kind = known ? static_cast<filecoin::Kind>(rows.Int(2)) : filecoin::Kinds()[0].kind;
  const int64_t priority = rows.Int(3);
  const std::string digest = rows.Bytes(4), proof = rows.Bytes(6);
  std::memcpy(job.digest.data(), digest.data(), std::min(digest.size(), job.digest.size()));
  job.registered_proof = static_cast<uint64_t>(rows.Int(8));
  job.payload_bytes = static_cast<uint64_t>(rows.Int(9));
  job.submitted_ms = rows.Int(10);
  const bool sealed = known && digest.size() == job.digest.size() && Equal(rows.Bytes(11), SealOf(job));
  if (!sealed || priority < kLowestPriority || priority > kHighestPriority || !IsRowState(rows.Int(5))) {
    damage->what = "its row";
    return true;
  }
  const bool completed = static_cast<RowState>(rows.Int(5)) == RowState::kCompleted;
  if (completed ? IsStoredProof(proof, rows.Bytes(7)) : proof.empty()) return false;
  damage->what = "its proof";
  damage->again = payloads.Read(job.row, job.digest).ok();
  return true;
}

StatusOr<std::vector<Damage>> FindDamage(Database& database, const PayloadFiles& payloads) {
  std::vector<Damage> found;
  Statement rows(
      database,
      "SELECT row,id,kind,priority,digest,state,proof,proof_digest,proof_number,bytes,submitted,seal FROM jobs");
  for (;;) {
    CUZK_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return found;
    Damage damage;
    if (IsDamaged(rows, payloads, &damage)) found.push_back(std::move(damage));
  }
}

Status Repair(Database& database, const Damage& damage, int64_t now_ms) {
  const StoredJob& job = damage.job;
  if (damage.again) {
    Statement update(database, "UPDATE jobs SET state=?,proof=NULL,proof_digest=NULL,fetched=0,finished=0 WHERE row=?");
    return update.Bind(static_cast<int64_t>(RowState::kUnfinished)).Bind(job.row).Run();
  }
  Statement update(database,
                   "UPDATE jobs SET kind=?,priority=?,digest=?,state=?,proof=NULL,proof_digest=NULL,error=?,fetched=0,"
                   "finished=?,seal=? WHERE row=?");
  const std::string error =
      StrCat("the job store was damaged: ", damage.what, " was changed by the disk; send it again");
  const Bytes32 seal = SealOf(job);
  return update.Bind(static_cast<int64_t>(job.kind))
      .Bind(kNormalPriority)
      .BindBlob(job.digest)
      .Bind(static_cast<int64_t>(RowState::kFailed))
      .BindText(error)
      .Bind(now_ms)
      .BindBlob(seal)
      .Bind(job.row)
      .Run();
}

}  // namespace

StatusOr<std::vector<std::string>> RepairRows(Database& database, const PayloadFiles& payloads, const Clock& clock) {
  CUZK_ASSIGN_OR_RETURN(const std::vector<Damage> found, FindDamage(database, payloads));
  std::vector<std::string> lines;
  for (const Damage& damage : found) {
    CUZK_RETURN_IF_ERROR(Repair(database, damage, clock.WallMs()));
    lines.push_back(StrCat("job store in ", database.directory().string(), ": row ", damage.job.row,
                           " of jobs.sqlite, job ", damage.job.id, ", is damaged: ", damage.what,
                           damage.again ? "; it is proved again" : "; it has failed"));
  }
  return lines;
}

}  // namespace cuzk::store
