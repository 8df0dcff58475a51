#pragma once
// Files as the project uses them: read whole, or written under a temporary name and renamed when complete, so that a
// file never appears under its final name before it is whole. Large ones are read through input_file.h.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace cuzk {

/// NotFound, PermissionDenied, ResourceExhausted (disk, quota, memory, descriptors) or Internal, with the path and the
/// system's text.
Status ErrnoStatus(int error, std::string_view what, const std::filesystem::path& path);

/// The bytes of a regular file. Errors of InputFile.
StatusOr<std::string> ReadFile(const std::filesystem::path& path);

/// Writes to a temporary name beside `path`; Commit() flushes to disk and renames. Without Commit, or when anything
/// fails, the temporary goes and what was there under `path` stays. Every error names the file.
class AtomicFile {
 public:
  static StatusOr<AtomicFile> Create(const std::filesystem::path& path, unsigned mode = 0644);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();

  /// Takes room on the disk for a file of so many bytes, so that a long work does not end at a full disk.
  /// ResourceExhausted if there is none; nothing happens where the file system cannot tell.
  Status Reserve(uint64_t bytes);
  Status Append(ByteSpan bytes);
  /// Overwrites bytes already appended.
  Status WriteAt(uint64_t offset, ByteSpan bytes);
  Status Commit();

 private:
  AtomicFile() = default;
  int fd_ = -1;
  std::filesystem::path path_, temporary_;
};

/// AtomicFile in one call.
Status WriteFile(const std::filesystem::path& path, ByteSpan bytes, unsigned mode = 0644);

}  // namespace cuzk
