#pragma once
// The last 24 hours in slots of five minutes: proofs by kind, failures, how busy each device was, the queue, the
// memory. Kept in memory, in the same number of bytes whatever happens.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/engine/jobs/status.h"

namespace cuzk::daemon {

/// Thread-safe.
class DayRecord {
 public:
  static constexpr size_t kSlots = 288;
  static constexpr std::chrono::minutes kSlot{5};
  /// More devices have no record.
  static constexpr size_t kMostDevices = 16;

  /// Adds what has changed since the call before, at `now` of the steady clock, which must not go back. To be called
  /// about once a second.
  void Add(const engine::EngineStatus& status, TimePoint now);

  /// {"slot_secs": 300, "last_hour": {KIND: proofs}, "failed_last_hour": jobs, "proofs": {KIND: [...]}, "failed":
  /// [...], "busy": [[...] for each device], "waiting": [...], "memory": [...]}: an item for each slot, the oldest
  /// first and the present one last; shares are 0 to 1, `waiting` is the longest queue, and null stands where nothing
  /// was seen.
  std::string Json(TimePoint now) const;

 private:
  struct Slot {
    int64_t number = -1;  // of the time that it is of; -1: none
    double seconds = 0;   // that were seen
    std::array<uint32_t, 4> proofs{};
    uint32_t failed = 0, waiting = 0;
    std::array<float, kMostDevices> busy_seconds{};
    float memory = 0;
  };
  struct Totals {
    std::map<filecoin::Kind, engine::KindStatus> kinds;
    std::vector<double> busy;
  };
  /// All slots up to the last one, of those without a record one that is empty.
  std::vector<Slot> InOrder(int64_t last) const;

  mutable Mutex mutex_;
  std::array<Slot, kSlots> slots_ ABSL_GUARDED_BY(mutex_);
  Totals before_ ABSL_GUARDED_BY(mutex_);
  std::optional<TimePoint> latest_ ABSL_GUARDED_BY(mutex_);
  size_t devices_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace cuzk::daemon
