#include "core/store/state_directory.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "core/base/file.h"

namespace cuzk::store {
namespace {

/// Makes the folder, for this user alone; one that is there keeps its mode.
Status MakeDirectory(const std::filesystem::path& directory) {
  const std::filesystem::path leaf = directory.has_filename() ? directory : directory.parent_path();
  std::error_code error;
  if (leaf.has_parent_path()) std::filesystem::create_directories(leaf.parent_path(), error);
  if (mkdir(leaf.c_str(), 0700) == 0) return absl::OkStatus();
  const int failed = errno;
  if (failed == EEXIST && std::filesystem::is_directory(leaf, error)) return absl::OkStatus();
  return ErrnoStatus(failed, "create", directory);
}

std::string UserName(uid_t user) {
  passwd entry{}, *found = nullptr;
  char text[4096];
  if (getpwuid_r(user, &entry, text, sizeof text, &found) == 0 && found != nullptr) return found->pw_name;
  return StrCat("uid ", user);
}

/// The owner of the folder can put anything into it, links to other files included.
Status CheckOwner(const std::filesystem::path& directory) {
  struct stat info {};
  if (stat(directory.c_str(), &info) != 0) return ErrnoStatus(errno, "look at", directory);
  if (info.st_uid == 0 || info.st_uid == geteuid()) return absl::OkStatus();
  return absl::PermissionDeniedError(StrCat("jobs.state_directory: ", directory.string(), " belongs to ",
                                            UserName(info.st_uid), ", but must belong to root or to ",
                                            UserName(geteuid()),
                                            ", the user of this process; run as its owner, or chown it"));
}

}  // namespace

Status PrepareStateDirectory(const std::filesystem::path& directory) {
  CUZK_RETURN_IF_ERROR(MakeDirectory(directory));
  CUZK_RETURN_IF_ERROR(CheckOwner(directory));
  return CheckStateDirectory(directory);
}

Status CheckStateDirectory(const std::filesystem::path& directory) {
  struct stat info {};
  constexpr mode_t kOthers = S_IWGRP | S_IRWXO;
  if (stat(directory.c_str(), &info) != 0 || (info.st_mode & kOthers) == 0) return absl::OkStatus();
  char mode[8];
  std::snprintf(mode, sizeof mode, "0%o", info.st_mode & 07777);
  return absl::PermissionDeniedError(StrCat("jobs.state_directory: ", directory.string(), " has mode ", mode,
                                            ": other users can read it or write to it; chmod 0700 ",
                                            directory.string()));
}

}  // namespace cuzk::store
