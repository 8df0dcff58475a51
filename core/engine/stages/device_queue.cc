#include "core/engine/stages/device_queue.h"

#include <utility>

namespace cuzk::engine {

bool DeviceQueue::GoesBefore(const DeviceTask& x, const DeviceTask& y) const {
  const bool x_overdue = x.passed >= overtakes_, y_overdue = y.passed >= overtakes_;
  if (x_overdue != y_overdue) return x_overdue;
  if (x.task.job != y.task.job) return MoreUrgent(*x.task.job, *y.task.job);
  return x.task.index < y.task.index;
}

std::optional<DeviceTask> DeviceQueue::Take(bool critical_only) {
  auto best = tasks_.end();
  for (auto it = tasks_.begin(); it != tasks_.end(); ++it) {
    if (critical_only && it->task.job->priority != Priority::kCritical) continue;
    if (best == tasks_.end() || GoesBefore(*it, *best)) best = it;
  }
  if (best == tasks_.end()) return std::nullopt;
  for (auto it = tasks_.begin(); it != best; ++it) it->passed++;
  std::optional<DeviceTask> task(std::move(*best));
  tasks_.erase(best);
  return task;
}

}  // namespace cuzk::engine
