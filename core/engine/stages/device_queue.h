#pragma once
// The witnesses that wait for a worker of one device, and the partitions that were admitted for it.

#include <cstdint>
#include <deque>
#include <optional>

#include "core/engine/stages/tasks.h"

namespace cuzk::engine {

/// Guarded by the engine's mutex.
class DeviceQueue {
 public:
  /// A partition that was passed by `overtakes` others goes first.
  explicit DeviceQueue(uint32_t overtakes) : overtakes_(overtakes) {}

  void Add(DeviceTask task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { tasks_.push_back(std::move(task)); }
  /// Takes out the partition that is next, of CRITICAL jobs alone if `critical_only`; nothing if there is none.
  std::optional<DeviceTask> Take(bool critical_only) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Takes out all.
  std::deque<DeviceTask> TakeAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { return std::exchange(tasks_, {}); }
  size_t size() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { return tasks_.size(); }

  /// A partition was admitted for the device, and will be added; or will not, after all.
  void Promise() ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { promised_++; }
  void Unpromise() ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { promised_--; }
  /// Partitions that wait or were promised.
  size_t load() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { return tasks_.size() + promised_; }

 private:
  bool GoesBefore(const DeviceTask& x, const DeviceTask& y) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

  const uint32_t overtakes_;
  std::deque<DeviceTask> tasks_ ABSL_GUARDED_BY(kEngineState);  // in the order of arrival
  unsigned promised_ ABSL_GUARDED_BY(kEngineState) = 0;         // admitted, not yet added
};

}  // namespace cuzk::engine
