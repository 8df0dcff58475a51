// What a disk has changed in the job store: noticed by digests when the store is opened, and dealt with job by job.

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/hash.h"
#include "core/engine/store.h"
#include "core/engine/store_statement.h"

namespace cuzk::engine {
namespace {

/// What ended, or had not.
bool IsStoredState(int64_t number) {
  const auto state = static_cast<JobState>(number);
  return number >= 0 && number <= static_cast<int64_t>(JobState::kCancelled) &&
         (state == JobState::kQueued || IsFinal(state));
}

bool IsPriority(int64_t number) {
  return number >= static_cast<int64_t>(Priority::kLow) && number <= static_cast<int64_t>(Priority::kCritical);
}

bool Equal(std::string_view stored, const Bytes32& digest) {
  return stored.size() == digest.size() && std::memcmp(stored.data(), digest.data(), digest.size()) == 0;
}

}  // namespace

/// A job that the disk has changed.
struct JobStore::Damage {
  StoredJob job;       ///< as far as it can be read
  bool again = false;  ///< its request is whole: it is proved again
  std::string what;
};

Bytes32 SealOf(const StoredJob& job) {
  Hasher hasher(HashKind::kSha256);
  for (uint64_t value : {static_cast<uint64_t>(job.kind), job.registered_proof, job.payload_bytes,
                         static_cast<uint64_t>(job.submitted_ms), uint64_t{job.id.size()}}) {
    uint8_t bytes[8];
    StoreLe(bytes, value);
    hasher.Update(bytes);
  }
  hasher.Update(AsBytes(job.id));
  hasher.Update(job.digest);
  return hasher.Finish32();
}

bool IsStoredProof(std::string_view proof, std::string_view digest) {
  return !proof.empty() && proof.size() % filecoin::kProofBytes == 0 && Equal(digest, Sha256(AsBytes(proof)));
}

StatusOr<std::vector<JobStore::Damage>> JobStore::FindDamage() {
  std::vector<Damage> found;
  Statement rows(
      *this, "SELECT row,id,kind,priority,digest,state,proof,proof_digest,proof_number,bytes,submitted,seal FROM jobs");
  for (;;) {
    CUZK_ASSIGN_OR_RETURN(bool more, rows.Step());
    if (!more) return found;
    Damage row{.job = {.row = rows.Int(0), .id = rows.Bytes(1)}};
    const bool known = filecoin::FindKind(static_cast<uint64_t>(rows.Int(2))) != nullptr;
    row.job.kind = known ? static_cast<filecoin::Kind>(rows.Int(2)) : filecoin::Kinds()[0].kind;
    const std::string digest = rows.Bytes(4), proof = rows.Bytes(6);
    std::memcpy(row.job.digest.data(), digest.data(), std::min(digest.size(), row.job.digest.size()));
    row.job.registered_proof = static_cast<uint64_t>(rows.Int(8));
    row.job.payload_bytes = static_cast<uint64_t>(rows.Int(9));
    row.job.submitted_ms = rows.Int(10);
    const bool sealed = known && digest.size() == row.job.digest.size() && Equal(rows.Bytes(11), SealOf(row.job));
    const auto state = static_cast<JobState>(rows.Int(5));
    if (!sealed || !IsPriority(rows.Int(3)) || !IsStoredState(rows.Int(5))) {
      row.what = "its row";
    } else if (state == JobState::kCompleted ? !IsStoredProof(proof, rows.Bytes(7)) : !proof.empty()) {
      row.what = "its proof";
      row.again = ReadPayload(row.job.row, row.job.digest).ok();
    } else {
      continue;
    }
    found.push_back(std::move(row));
  }
}

Status JobStore::Mend(const Damage& damage) {
  const StoredJob& job = damage.job;
  if (damage.again) {
    Statement update(*this, "UPDATE jobs SET state=?,proof=NULL,proof_digest=NULL,fetched=0,finished=0 WHERE row=?");
    return update.Bind(static_cast<int64_t>(JobState::kQueued)).Bind(job.row).Run();
  }
  Statement update(*this,
                   "UPDATE jobs SET kind=?,priority=?,digest=?,state=?,proof=NULL,proof_digest=NULL,error=?,fetched=0,"
                   "finished=?,seal=? WHERE row=?");
  const std::string error =
      StrCat("the job store was damaged: ", damage.what, " was changed by the disk; send it again");
  const Bytes32 seal = SealOf(job);
  return update.Bind(static_cast<int64_t>(job.kind))
      .Bind(static_cast<int64_t>(Priority::kNormal))
      .BindBlob(job.digest)
      .Bind(static_cast<int64_t>(JobState::kFailed))
      .BindText(error)
      .Bind(WallClockMs())
      .BindBlob(seal)
      .Bind(job.row)
      .Run();
}

Status JobStore::MendRows() {
  CUZK_ASSIGN_OR_RETURN(const std::vector<Damage> found, FindDamage());
  for (const Damage& damage : found) {
    CUZK_RETURN_IF_ERROR(Mend(damage));
    damaged_.push_back(StrCat("job store in ", options_.directory.string(), ": row ", damage.job.row,
                              " of jobs.sqlite, job ", damage.job.id, ", is damaged: ", damage.what,
                              damage.again ? "; it is proved again" : "; it has failed"));
  }
  return absl::OkStatus();
}

Status JobStore::SealRows() {
  std::vector<std::pair<int64_t, Bytes32>> seals;
  {
    Statement rows(*this, "SELECT row,id,kind,digest,proof_number,bytes,submitted FROM jobs");
    for (;;) {
      CUZK_ASSIGN_OR_RETURN(bool more, rows.Step());
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
  for (const auto& [row, seal] : seals) {
    Statement update(*this, "UPDATE jobs SET seal=? WHERE row=?");
    CUZK_RETURN_IF_ERROR(update.BindBlob(seal).Bind(row).Run());
  }
  return absl::OkStatus();
}

}  // namespace cuzk::engine
