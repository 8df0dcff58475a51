#include "daemon/app/process/secure_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "core/base/file.h"
#include "core/store/state_directory.h"

namespace cuzk::daemon {
namespace {

constexpr const char* kStoreFile = "jobs.sqlite";

}  // namespace

Status SecureStateDirectory(const std::filesystem::path& directory, Logger& log) {
  struct stat info {};
  if (directory.empty() || lstat(directory.c_str(), &info) != 0) return absl::OkStatus();
  // A link leads to a folder whose mode may serve others.
  if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid()) return absl::OkStatus();
  if (store::CheckStateDirectory(directory).ok()) return absl::OkStatus();
  // A folder that is shared on purpose, or holds other things, is not ours to close.
  std::error_code error;
  const bool empty = std::filesystem::is_empty(directory, error) && !error;
  const bool has_store = std::filesystem::exists(directory / kStoreFile, error);
  if ((info.st_mode & S_ISVTX) != 0 || !(empty || has_store)) return absl::OkStatus();
  if (chmod(directory.c_str(), 0700) != 0) return ErrnoStatus(errno, "chmod 0700", directory);
  char mode[8];
  std::snprintf(mode, sizeof mode, "0%o", info.st_mode & 07777U);
  log.Warning(StrCat("jobs.state_directory: ", directory.string(), " had mode ", mode,
                     ", which allowed other users to read it or write to it; the mode is 0700 now"));
  return absl::OkStatus();
}

}  // namespace cuzk::daemon
