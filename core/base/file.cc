#include "core/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/input_file.h"

namespace cuzk {
namespace {

/// Calls `write(data, size)` until all is written.
template <class Write>
Status WriteAll(ByteSpan bytes, const std::filesystem::path& path, Write write) {
  while (!bytes.empty()) {
    ssize_t n = write(bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ErrnoStatus(n == 0 ? ENOSPC : errno, "write", path);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

}  // namespace

Status ErrnoStatus(int error, std::string_view what, const std::filesystem::path& path) {
  std::string text = StrCat(what, " ", path.string(), ": ", std::strerror(error));
  if (error == ENOENT) return absl::NotFoundError(text);
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(text);
  for (int full : {ENOSPC, EDQUOT, EFBIG, ENOMEM, EMFILE, ENFILE}) {
    if (error == full) return absl::ResourceExhaustedError(text);
  }
  return absl::InternalError(text);
}

StatusOr<std::string> ReadFile(const std::filesystem::path& path) {
  CUZK_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
  std::string bytes(file.size(), '\0');
  CUZK_RETURN_IF_ERROR(file.ReadAt(0, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()}));
  return bytes;
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

Status AtomicFile::Reserve(uint64_t bytes) {
  if (bytes == 0 || fallocate(fd_, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0) return absl::OkStatus();
  if (errno != ENOSPC && errno != EDQUOT && errno != EFBIG) return absl::OkStatus();
  return ErrnoStatus(errno, StrCat("reserve ", bytes, " bytes for"), path_);
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
