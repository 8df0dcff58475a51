#include "core/base/thread.h"

#include <sys/resource.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

namespace cuzk {
namespace {

/// "pids.max is 64 in /sys/fs/cgroup/system.slice/cuzkd.service", of the group with the smallest; empty without one.
std::string GroupLimit() {
  std::ifstream groups("/proc/self/cgroup");
  std::string line, said;
  while (std::getline(groups, line) && !line.starts_with("0::/")) {
  }
  uint64_t least = UINT64_MAX;
  const std::filesystem::path mount = "/sys/fs/cgroup";
  std::filesystem::path group = line.size() > 4 ? mount / line.substr(4) : mount;
  for (;; group = group.parent_path()) {
    uint64_t most = 0;
    if (std::ifstream(group / "pids.max") >> most && most < least) {
      least = most;
      said = StrCat("pids.max is ", most, " in ", group.string());
    }
    if (group == mount || group == group.parent_path()) return said;
  }
}

}  // namespace

std::string ThreadLimits() {
  std::string limits = GroupLimit();
  auto add = [&limits](const std::string& text) { limits += StrCat(limits.empty() ? "" : ", ", text); };
  rlimit limit{};
  if (getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    add(StrCat("the user's processes and threads are at most ", limit.rlim_cur));
  }
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    add(StrCat("the address space is at most ", limit.rlim_cur >> 20, " MiB (ulimit -v, LimitAS=)"));
  }
  return limits.empty() ? "no limit is known" : limits;
}

Status NoThread(std::string_view what, std::string_view why) {
  return absl::ResourceExhaustedError(StrCat("cannot start a thread for ", what, ": ", why, " (", ThreadLimits(),
                                             "): raise TasksMax=, LimitNPROC= or LimitAS= of the unit, pids of the "
                                             "container, or end other programs"));
}

}  // namespace cuzk
