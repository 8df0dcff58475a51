#pragma once
// Parameter files whose digest was found right, so that 47 GB are not hashed again for a file that has not changed.

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/input_file.h"
#include "core/base/mutex.h"
#include "core/base/status.h"

namespace cuzk::prover {

/// Remembers files by device, inode, size and both times, together with the digest that they have. What was remembered
/// survives a restart if there is a file for it, which only this process's user may be able to write: any user who can
/// write it can have any parameters accepted. Thread-safe.
class VerifiedFiles {
 public:
  /// The most files that are remembered; of more, those that were added first are forgotten.
  static constexpr size_t kMost = 64;

  /// Reads what `path` remembers; empty: nothing survives a restart. A file that is not there or cannot be read is as
  /// if it remembered nothing; damaged lines are left out.
  explicit VerifiedFiles(std::filesystem::path path = {});

  /// Whether the open file, as it was when it was opened, is known to have the digest.
  bool Has(const InputFile& file, const std::string& digest) const;
  /// The open file has the digest. The error is that of writing `path`; the process remembers it all the same.
  Status Add(const InputFile& file, const std::string& digest);

 private:
  struct Entry {
    FileIdentity identity;
    std::string digest;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  static std::string LineOf(const Entry& entry);

  const std::filesystem::path path_;
  mutable Mutex mutex_;
  std::vector<Entry> entries_ ABSL_GUARDED_BY(mutex_);  // the oldest first
};

}  // namespace cuzk::prover
