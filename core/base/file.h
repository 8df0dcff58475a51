#pragma once
// Files as the project uses them: read whole, or written under a temporary name and renamed when complete, so that a
// file never appears under its final name before it is complete. Large files are read through input_file.h. If the path
// names a device or a pipe, the bytes are written into it instead.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace cuzk {

/// NotFound, InvalidArgument (what the path names), PermissionDenied, ResourceExhausted (disk, quota, memory,
/// descriptors) or Internal, with the path and the system's text.
Status ErrnoStatus(int error, std::string_view what, const std::filesystem::path& path);

/// The bytes of a regular file. Errors of InputFile; InvalidArgument with name, size and limit for one that is larger.
StatusOr<std::string> ReadFile(const std::filesystem::path& path, uint64_t most_bytes = uint64_t{1} << 30);

/// Whether AtomicFile could write there, by trying; nothing stays. Errors of Create.
Status CheckOutput(const std::filesystem::path& path);

/// Writes to a temporary name beside `path`, or beside what it is a symbolic link to; Commit() flushes to disk and
/// renames. Without Commit, or if anything fails, the temporary file is removed and `path` is left as it was. Every
/// error names the file. Bytes for a device, a pipe or an open descriptor (/dev/stdout) are written at once instead.
class AtomicFile {
 public:
  /// InvalidArgument for a folder. Opening a pipe waits for its reader.
  static StatusOr<AtomicFile> Create(const std::filesystem::path& path, unsigned mode = 0644);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();

  /// Reserves disk space for `bytes` bytes, so that a long computation does not end with a full disk.
  /// ResourceExhausted if there is too little space; no effect if the file system cannot reserve.
  Status Reserve(uint64_t bytes);
  Status Append(ByteSpan bytes);
  /// Overwrites bytes already appended.
  Status WriteAt(uint64_t offset, ByteSpan bytes);
  Status Commit();

 private:
  AtomicFile() = default;
  int fd_ = -1;
  std::filesystem::path path_, temporary_;  // temporary_ is empty for what is written into at once
};

/// AtomicFile in one call.
Status WriteFile(const std::filesystem::path& path, ByteSpan bytes, unsigned mode = 0644);

}  // namespace cuzk
