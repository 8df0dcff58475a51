#pragma once
// What one device has done: how long kernels ran, what was copied, how fast it proves each circuit.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/engine/jobs/guard.h"
#include "core/engine/jobs/status.h"
#include "core/prover/device/device_times.h"

namespace cuzk::engine {

/// Guarded by the engine's mutex.
class DeviceMeter {
 public:
  /// The stretch of time that DeviceStatus::busy_share is about.
  static constexpr std::chrono::seconds kShown{60};

  /// `started`: what was before it counts for nothing.
  explicit DeviceMeter(TimePoint started) : started_(started), memory_seen_(started) {}

  void SawMemory(const prover::MemoryInfo& memory, TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// An attempt at a partition ended, whether or not it was proved; the witness had so many bytes.
  prover::DeviceTimes Ended(const prover::Timeline& timeline, uint64_t witness_bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// A partition of the circuit was proved, which kept the device from others for so long.
  void Proved(const std::string& circuit, Duration kept) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// How long a partition of the circuit keeps the device from others, from those before; nothing before the first.
  std::optional<Duration> Pace(const std::string& circuit) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Memory, times and totals.
  void Describe(TimePoint now, DeviceStatus& out) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

 private:
  using Stretch = std::pair<TimePoint, TimePoint>;
  double BusyShare(TimePoint now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

  const TimePoint started_;
  prover::MemoryInfo memory_ ABSL_GUARDED_BY(kEngineState);  // as last seen
  TimePoint memory_seen_ ABSL_GUARDED_BY(kEngineState);
  uint64_t partitions_ ABSL_GUARDED_BY(kEngineState) = 0;
  // Of ended partitions.
  Duration kernels_ ABSL_GUARDED_BY(kEngineState){};
  uint64_t copied_to_device_ ABSL_GUARDED_BY(kEngineState) = 0;  // bytes of their witnesses
  std::map<std::string_view, Duration> stage_time_ ABSL_GUARDED_BY(kEngineState);
  std::deque<Stretch> recent_ ABSL_GUARDED_BY(kEngineState);            // in which kernels ran, as they ended
  std::map<std::string, Duration> pace_ ABSL_GUARDED_BY(kEngineState);  // by circuit: moving averages
};

}  // namespace cuzk::engine
