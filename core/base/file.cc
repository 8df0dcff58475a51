#include "core/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace cuzk {
namespace {

/// Calls `write(data, size)` until all is written.
template <class Write>
Status WriteAll(ByteSpan bytes, const std::filesystem::path& path, Write write) {
  while (!bytes.empty()) {
    ssize_t n = write(bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "write", path);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

}  // namespace

Status ErrnoStatus(int error, std::string_view what, const std::filesystem::path& path) {
  std::string text = StrCat(what, " ", path.string(), ": ", std::strerror(error));
  if (error == ENOENT) return absl::NotFoundError(text);
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(text);
  if (error == ENOSPC || error == ENOMEM || error == EMFILE) return absl::ResourceExhaustedError(text);
  return absl::InternalError(text);
}

StatusOr<std::string> ReadFile(const std::filesystem::path& path) {
  CUZK_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  ByteSpan bytes = file.bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

StatusOr<MappedFile> MappedFile::Open(const std::filesystem::path& path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, "open", path);
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    int error = errno;
    close(fd);
    return S_ISREG(info.st_mode) || info.st_mode == 0
               ? ErrnoStatus(error, "stat", path)
               : absl::InvalidArgumentError(StrCat(path.string(), ": not a regular file"));
  }
  MappedFile out;
  out.path_ = path;
  out.size_ = static_cast<size_t>(info.st_size);
  if (out.size_ > 0) {
    void* p = mmap(nullptr, out.size_, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
      int error = errno;
      close(fd);
      out.size_ = 0;
      return ErrnoStatus(error, "map", path);
    }
    out.data_ = static_cast<const uint8_t*>(p);
  }
  close(fd);
  return out;
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }
MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(path_, other.path_);
  return *this;
}
MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<uint8_t*>(data_), size_);
}

StatusOr<AtomicFile> AtomicFile::Create(const std::filesystem::path& path, unsigned mode) {
  std::string name = path.string() + ".part-XXXXXX";
  int fd = mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, "create", path);
  AtomicFile out;
  out.fd_ = fd;
  out.path_ = path;
  out.temporary_ = name;
  if (fchmod(fd, mode) != 0) return ErrnoStatus(errno, "chmod", name);
  return out;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept { *this = std::move(other); }
AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  return *this;
}
AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status AtomicFile::Append(ByteSpan bytes) {
  return WriteAll(bytes, path_, [this](const uint8_t* p, size_t n) { return write(fd_, p, n); });
}

Status AtomicFile::WriteAt(uint64_t offset, ByteSpan bytes) {
  return WriteAll(bytes, path_, [this, &offset](const uint8_t* p, size_t n) {
    ssize_t done = pwrite(fd_, p, n, static_cast<off_t>(offset));
    if (done > 0) offset += static_cast<uint64_t>(done);
    return done;
  });
}

Status AtomicFile::Commit() {
  if (fsync(fd_) != 0) return ErrnoStatus(errno, "sync", path_);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return ErrnoStatus(errno, "rename", path_);
  temporary_.clear();
  // The new name is on disk once its directory is.
  std::filesystem::path directory = path_.has_parent_path() ? path_.parent_path() : ".";
  int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, "open", directory);
  int failed = fsync(fd) != 0 ? errno : 0;
  close(fd);
  return failed == 0 ? absl::OkStatus() : ErrnoStatus(failed, "sync", directory);
}

Status WriteFile(const std::filesystem::path& path, ByteSpan bytes, unsigned mode) {
  CUZK_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path, mode));
  CUZK_RETURN_IF_ERROR(file.Append(bytes));
  return file.Commit();
}

}  // namespace cuzk
