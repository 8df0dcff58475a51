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
  std::lock_guard lock(mutex_);
  return before_ ? absl::OkStatus() : found_;
}

void PathProbe::Run(const std::stop_token& stop, std::chrono::milliseconds pause) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    lock.unlock();
    Status found = attempt_();
    lock.lock();
    before_ = std::exchange(found_, std::move(found)).ok();
    wake_.wait_for(lock, stop, pause, [] { return false; });
  }
}

}  // namespace cuzk::daemon
