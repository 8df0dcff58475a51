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

/// Where a file is to be written.
struct Target {
  enum class Kind { kFile, kInto, kDescriptor } kind = Kind::kFile;
  std::filesystem::path path;  ///< behind all symbolic links
  int descriptor = -1;         ///< of this process
};

/// The descriptor of this process that a name such as /proc/self/fd/1 means, -1 for any other name.
int OwnDescriptor(const std::filesystem::path& path) {
  const std::string name = path.filename();
  if (name.empty() || name.size() > 6 || name.find_first_not_of("0123456789") != std::string::npos) return -1;
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(path.parent_path(), error);
  return !error && folder == StrCat("/proc/", getpid(), "/fd") ? std::stoi(name) : -1;
}

StatusOr<Target> TargetOf(std::filesystem::path path) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  for (int links = 0; true; ++links) {
    if (int fd = OwnDescriptor(path); fd >= 0) return Target{Target::Kind::kDescriptor, std::move(path), fd};
    if (!std::filesystem::is_symlink(path, error)) break;
    if (links == kMostLinks) return ErrnoStatus(ELOOP, "open", path);
    const std::filesystem::path next = std::filesystem::read_symlink(path, error);
    if (error) return ErrnoStatus(error.value(), "read link", path);
    path = path.parent_path() / next;  // an absolute one replaces it
  }
  struct stat info {};
  if (stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return absl::InvalidArgumentError(StrCat(path.string(), ": is a folder, not a file"));
    if (!S_ISREG(info.st_mode)) return Target{Target::Kind::kInto, std::move(path)};
  }
  if (!path.has_filename())
    return absl::InvalidArgumentError(StrCat("\"", path.string(), "\": not the name of a file"));
  return Target{Target::Kind::kFile, std::move(path)};
}

}  // namespace

Status ErrnoStatus(int error, std::string_view what, const std::filesystem::path& path) {
  std::string text = StrCat(what, " ", path.string(), ": ", std::strerror(error));
  if (error == ENOENT) return absl::NotFoundError(text);
  for (int name : {ENOTDIR, EISDIR, ENAMETOOLONG, ELOOP}) {
    if (error == name) return absl::InvalidArgumentError(text);
  }
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(text);
  for (int full : {ENOSPC, EDQUOT, EFBIG, ENOMEM, EMFILE, ENFILE}) {
    if (error == full) return absl::ResourceExhaustedError(text);
  }
  return absl::InternalError(text);
}

StatusOr<std::string> ReadFile(const std::filesystem::path& path, uint64_t most_bytes) {
  CUZK_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
  if (file.size() > most_bytes) {
    return absl::InvalidArgumentError(
        StrCat(path.string(), ": has ", file.size(), " bytes; at most ", most_bytes, " are read"));
  }
  std::string bytes(file.size(), '\0');
  CUZK_RETURN_IF_ERROR(file.ReadAt(0, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()}));
  return bytes;
}

Status CheckOutput(const std::filesystem::path& path) {
  CUZK_ASSIGN_OR_RETURN(Target target, TargetOf(path));
  if (target.kind == Target::Kind::kFile) return AtomicFile::Create(target.path).status();
  if (target.kind == Target::Kind::kInto && access(target.path.c_str(), W_OK) != 0) {
    return ErrnoStatus(errno, "write", target.path);
  }
  return absl::OkStatus();
}

StatusOr<AtomicFile> AtomicFile::Create(const std::filesystem::path& path, unsigned mode) {
  CUZK_ASSIGN_OR_RETURN(Target target, TargetOf(path));
  AtomicFile out;
  out.path_ = std::move(target.path);
  if (target.kind != Target::Kind::kFile) {
    out.fd_ = target.kind == Target::Kind::kInto ? open(out.path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY)
                                                 : fcntl(target.descriptor, F_DUPFD_CLOEXEC, 0);
    if (out.fd_ < 0) return ErrnoStatus(errno, "open", out.path_);
    return out;
  }
  std::string name = out.path_.string() + ".part-XXXXXX";
  out.fd_ = mkostemp(name.data(), O_CLOEXEC);
  if (out.fd_ < 0) return ErrnoStatus(errno, "create", out.path_);
  out.temporary_ = name;
  if (fchmod(out.fd_, mode) != 0) return ErrnoStatus(errno, "chmod", name);
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
  if (temporary_.empty()) {
    return close(std::exchange(fd_, -1)) == 0 ? absl::OkStatus() : ErrnoStatus(errno, "close", path_);
  }
  if (fsync(fd_) != 0) return ErrnoStatus(errno, "sync", path_);
  struct stat info {};
  if (lstat(path_.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {  // made there since
    return absl::FailedPreconditionError(StrCat(path_.string(), ": is not a regular file and is not replaced"));
  }
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
