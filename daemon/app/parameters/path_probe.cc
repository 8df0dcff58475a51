#include "daemon/app/parameters/path_probe.h"

#include <utility>

#include "core/base/thread.h"

namespace cuzk::daemon {

StatusOr<std::unique_ptr<PathProbe>> PathProbe::Start(Attempt attempt, std::chrono::milliseconds pause) {
  std::unique_ptr<PathProbe> probe(new PathProbe(std::move(attempt)));
  auto run = [p = probe.get(), pause](const std::stop_token& stop) { p->Run(stop, pause); };
  CUZK_ASSIGN_OR_RETURN(probe->thread_, StartThread("trying the listeners", run));
  return probe;
}

Status PathProbe::Check() const {
  MutexLock lock(mutex_);
  return before_ ? absl::OkStatus() : found_;
}

void PathProbe::Run(const std::stop_token& stop, std::chrono::milliseconds pause) {
  MutexLock lock(mutex_);
  while (!stop.stop_requested()) {
    lock.Unlock();
    Status found = attempt_();
    lock.Lock();
    before_ = std::exchange(found_, std::move(found)).ok();
    const TimePoint next = std::chrono::steady_clock::now() + pause;
    while (!stop.stop_requested() && wake_.WaitUntil(mutex_, next, stop)) {
    }
  }
}

}  // namespace cuzk::daemon
