#include "core/base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/base/file.h"

namespace cuzk {
namespace {

FileIdentity IdentityOf(const struct stat& info) {
  constexpr int64_t kNanoseconds = 1'000'000'000;
  return {info.st_dev, info.st_ino, static_cast<uint64_t>(info.st_size),
          info.st_mtim.tv_sec * kNanoseconds + info.st_mtim.tv_nsec,
          info.st_ctim.tv_sec * kNanoseconds + info.st_ctim.tv_nsec};
}

}  // namespace

StatusOr<InputFile> InputFile::Open(const std::filesystem::path& path) {
  InputFile out;
  out.path_ = path;
  out.fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe is refused below, not waited for
  if (out.fd_ < 0) return ErrnoStatus(errno, "open", path);
  struct stat info {};
  if (fstat(out.fd_, &info) != 0) return ErrnoStatus(errno, "stat", path);
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(StrCat(path.string(), ": not a regular file"));
  out.identity_ = IdentityOf(info);
  return out;
}

InputFile::InputFile(InputFile&& other) noexcept { *this = std::move(other); }
InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(identity_, other.identity_);
  std::swap(path_, other.path_);
  return *this;
}
InputFile::~InputFile() {
  if (fd_ >= 0) close(fd_);
}

Status InputFile::ReadAt(uint64_t offset, std::span<uint8_t> out) const {
  while (!out.empty()) {
    const ssize_t n = pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "read", path_);
    if (n == 0) {
      return absl::FailedPreconditionError(StrCat(path_.string(), ": changed while it was being read: it ends at byte ",
                                                  offset, " and had ", size(), " when it was opened"));
    }
    offset += static_cast<uint64_t>(n);
    out = out.subspan(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

void InputFile::Announce(uint64_t offset, uint64_t bytes) const {
  (void)posix_fadvise(fd_, static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
}

Status InputFile::CheckUnchanged() const {
  struct stat info {};
  if (fstat(fd_, &info) != 0) return ErrnoStatus(errno, "stat", path_);
  FileIdentity now = IdentityOf(info);
  now.changed_ns = identity_.changed_ns;
  if (now == identity_) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat(path_.string(), ": changed while it was being read"));
}

}  // namespace cuzk
