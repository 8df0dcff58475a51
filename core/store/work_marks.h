#pragma once
// Which jobs are in work, on disk, so that a job that kills the process is not tried for ever.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <set>

#include "core/base/status.h"

namespace cuzk::store {

/// A file of eight bytes for each worker: the row that it works on, or 0. Written in place, so that it stays as it is
/// however the process ends; not flushed, since no job is to blame for a power cut. Thread-safe after Open.
class WorkMarks {
 public:
  WorkMarks() = default;
  ~WorkMarks();
  WorkMarks(const WorkMarks&) = delete;
  WorkMarks& operator=(const WorkMarks&) = delete;

  /// Opens or makes the file. Returns the rows that were in work when the process before this one died.
  StatusOr<std::set<int64_t>> Open(const std::filesystem::path& directory);
  /// Forgets every mark.
  Status Clear();
  /// From now on no worker counts as at work: the process ends in an orderly way.
  Status Close();
  /// A worker begins on a job, or with row 0 is done with it. No effect after Close.
  Status Set(unsigned worker, int64_t row);

 private:
  std::filesystem::path path_;
  int file_ = -1;
  std::atomic<bool> closed_ = false;
};

}  // namespace cuzk::store
