// Which jobs are in work, so that one which kills the process or its device is not tried for ever.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "core/engine/store.h"
#include "core/engine/store_statement.h"

namespace cuzk::engine {

Status JobStore::OpenMarks() {
  const std::filesystem::path path = options_.directory / "in-work";
  marks_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (marks_ < 0) return ErrnoStatus(errno, "open", path);
  std::set<int64_t> rows;  // a job may have had several workers
  int64_t row;
  for (off_t at = 0; pread(marks_, &row, sizeof row, at) == sizeof row; at += sizeof row) {
    if (row != 0) rows.insert(row);
  }
  for (int64_t in_work : rows) CUZK_RETURN_IF_ERROR(CountLoss(in_work));
  return ftruncate(marks_, 0) == 0 ? absl::OkStatus() : ErrnoStatus(errno, "write", path);
}

Status JobStore::Mark(unsigned worker, int64_t row) const {
  // Others prove on while the disk hangs: a mark may be missing, and counts for nothing if it is late.
  if (orderly_end_ || !Answers(OldestCall()).ok()) return absl::OkStatus();
  const StoreCalls::Call call(calls_);
  if (options_.seam) options_.seam("mark");
  if (pwrite(marks_, &row, sizeof row, static_cast<off_t>(worker * sizeof row)) == sizeof row) return absl::OkStatus();
  return ErrnoStatus(errno, "write", options_.directory / "in-work");
}

Status JobStore::Unmark() {
  orderly_end_ = true;
  const StoreCalls::Call call(calls_);
  return ftruncate(marks_, 0) == 0 ? absl::OkStatus() : ErrnoStatus(errno, "write", options_.directory / "in-work");
}

Status JobStore::CountLoss(int64_t row) {
  const Turn turn(*this, "count loss");
  return Execute(StrCat("UPDATE jobs SET losses=losses+1 WHERE row=", row).c_str());
}

}  // namespace cuzk::engine
