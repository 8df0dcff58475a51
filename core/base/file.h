#pragma once
// Files as the project uses them: read whole, mapped read-only, or written under a temporary name and renamed when
// complete, so that a file never appears under its final name before it is whole.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace cuzk {

/// NotFound, PermissionDenied or Internal, with the path and the system's text.
Status ErrnoStatus(int error, std::string_view what, const std::filesystem::path& path);

StatusOr<std::string> ReadFile(const std::filesystem::path& path);

/// A read-only mapping of a whole file. Move-only; the bytes may be read by many threads.
class MappedFile {
 public:
  static StatusOr<MappedFile> Open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  ByteSpan bytes() const { return {data_, size_}; }
  const std::filesystem::path& path() const { return path_; }

 private:
  MappedFile() = default;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  std::filesystem::path path_;
};

/// Writes to a temporary name beside `path`; Commit() flushes to disk and renames. Without Commit the temporary goes.
class AtomicFile {
 public:
  static StatusOr<AtomicFile> Create(const std::filesystem::path& path, unsigned mode = 0644);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();

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
