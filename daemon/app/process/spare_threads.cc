#include "daemon/app/process/spare_threads.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <semaphore>
#include <string>
#include <vector>

#include "core/base/thread.h"

namespace cuzk::daemon {
namespace {

/// Threads are counted here, not the memory of their stacks.
constexpr size_t kStackBytes = size_t{256} << 10;

void* Wait(void* end) {
  static_cast<std::counting_semaphore<>*>(end)->acquire();
  return nullptr;
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
  return absl::ResourceExhaustedError(
      StrCat("there are too few threads: ", spare, " of ", needed, " can be started (", ThreadLimits(),
             "): raise TasksMax= or LimitNPROC= of the unit, the pids limit of the container, or end other programs"));
}

Status CheckAddressSpace(size_t threads) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return absl::OkStatus();
  size_t stack = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_getstacksize(&attributes, &stack);
  pthread_attr_destroy(&attributes);
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const uint64_t needed = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + threads * stack;
  if (needed <= limit.rlim_cur) return absl::OkStatus();
  return absl::ResourceExhaustedError(StrCat("the address space is too small: ", needed >> 20, " MiB are needed for ",
                                             threads, " threads and the loaded program (", ThreadLimits(),
                                             "): raise LimitAS= of the unit or ulimit -v, or remove the limit"));
}

}  // namespace cuzk::daemon
