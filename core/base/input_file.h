#pragma once
// Files from outside, read at any offset. Files are read, not mapped, so that a change by another process is an error
// of a read, never a signal.

#include <cstdint>
#include <filesystem>
#include <span>

#include "core/base/status.h"

namespace cuzk {

/// Identifies the content of a file without reading it.
struct FileIdentity {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;  ///< also after a change of its names, owner or mode; no program can set it
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// A regular file that is open for reading. Move-only; any number of threads may read.
class InputFile {
 public:
  /// NotFound, PermissionDenied, InvalidArgument if it is not a regular file, or another error of the system.
  static StatusOr<InputFile> Open(const std::filesystem::path& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  const std::filesystem::path& path() const { return path_; }
  /// As it was when the file was opened.
  const FileIdentity& identity() const { return identity_; }
  uint64_t size() const { return identity_.size; }

  /// Fills `out` with the bytes from `offset` on. FailedPrecondition if the file ends too early because it was
  /// truncated after it was opened. Errors name the file.
  Status ReadAt(uint64_t offset, std::span<uint8_t> out) const;
  /// Advises the system that these bytes will be read soon, so that it may read ahead.
  void Announce(uint64_t offset, uint64_t bytes) const;
  /// FailedPrecondition if the file has changed since it was opened. A changed name, owner or mode is no change.
  Status CheckUnchanged() const;

 private:
  InputFile() = default;
  int fd_ = -1;
  FileIdentity identity_;
  std::filesystem::path path_;
};

}  // namespace cuzk
