#include "daemon/app/spare_threads.h"

#include <pthread.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <semaphore>
#include <string>
#include <vector>

namespace cuzk::daemon {
namespace {

/// Threads are counted here, not the memory of their stacks.
constexpr size_t kStackBytes = size_t{256} << 10;

void* Wait(void* end) {
  static_cast<std::counting_semaphore<>*>(end)->acquire();
  return nullptr;
}

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

size_t SpareThreads(size_t most) {
  std::counting_semaphore<> end(0);
  std::vector<pthread_t> threads;
  threads.reserve(most);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  for (pthread_t thread{}; threads.size() < most && pthread_create(&thread, &attributes, Wait, &end) == 0;) {
    threads.push_back(thread);
  }
  pthread_attr_destroy(&attributes);
  end.release(static_cast<std::ptrdiff_t>(threads.size()));
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  return threads.size();
}

Status CheckThreads(size_t spare, size_t needed) {
  if (spare >= needed) return absl::OkStatus();
  std::string limits = GroupLimit();
  rlimit user{};
  if (getrlimit(RLIMIT_NPROC, &user) == 0 && user.rlim_cur != RLIM_INFINITY) {
    limits += StrCat(limits.empty() ? "" : ", ", "the user may have at most ", user.rlim_cur, " processes and threads");
  }
  return absl::ResourceExhaustedError(
      StrCat("there are too few threads: ", spare, " of ", needed, " can be started (",
             limits.empty() ? "no limit is known" : limits,
             "): raise TasksMax= or LimitNPROC= of the unit, the pids limit of the container, or end other programs"));
}

}  // namespace cuzk::daemon
