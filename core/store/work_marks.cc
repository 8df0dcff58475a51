#include "core/store/work_marks.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/file.h"

namespace cuzk::store {

WorkMarks::~WorkMarks() {
  if (file_ >= 0) close(file_);
}

StatusOr<std::set<int64_t>> WorkMarks::Open(const std::filesystem::path& directory) {
  path_ = directory / "in-work";
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file_ < 0) return ErrnoStatus(errno, "open", path_);
  std::set<int64_t> rows;  // a job may have had several workers
  int64_t row = 0;
  for (off_t at = 0; pread(file_, &row, sizeof row, at) == sizeof row; at += sizeof row) {
    if (row != 0) rows.insert(row);
  }
  return rows;
}

Status WorkMarks::Clear() { return ftruncate(file_, 0) == 0 ? absl::OkStatus() : ErrnoStatus(errno, "write", path_); }

Status WorkMarks::Close() {
  closed_ = true;
  return Clear();
}

Status WorkMarks::Set(unsigned worker, int64_t row) {
  if (closed_) return absl::OkStatus();
  if (pwrite(file_, &row, sizeof row, static_cast<off_t>(worker * sizeof row)) == sizeof row) return absl::OkStatus();
  return ErrnoStatus(errno, "write", path_);
}

}  // namespace cuzk::store
