#include "daemon/ctl/connection/socket_advice.h"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "daemon/common/exit_code.h"
#include "daemon/sockets/address.h"

namespace cuzk::daemon {

Status WithSocketAdvice(const Status& status, const std::string& address) {
  if (!absl::IsUnavailable(status)) return status;
  StatusOr<std::vector<Address>> parsed = ParseAddresses(address);
  if (!parsed.ok() || parsed->front().kind != Address::Kind::kUnixPath) return status;
  const std::string& path = parsed->front().path;
  if (access(path.c_str(), R_OK | W_OK) == 0 || errno != EACCES) return status;
  // The socket's group, or that of the folder which cannot be looked into.
  struct stat info {};
  const std::string folder = std::filesystem::path(path).parent_path();
  if (stat(path.c_str(), &info) != 0 && stat(folder.c_str(), &info) != 0) return status;
  const group* owner = getgrgid(info.st_gid);
  return Reworded(status, StrCat(status.message(), "; ", path, " is open to the group ",
                                 owner ? std::string(owner->gr_name) : StrCat(info.st_gid),
                                 "; join it (usermod -aG, then log in again) or use sudo"));
}

}  // namespace cuzk::daemon
