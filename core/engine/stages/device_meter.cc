#include "core/engine/stages/device_meter.h"

#include <algorithm>
#include <vector>

namespace cuzk::engine {
namespace {

/// Weight of the latest partition in the moving average.
constexpr double kLatest = 0.3;

bool IsKernel(std::string_view stage) {
  return stage != prover::stage::kLeaseWait && stage != prover::stage::kHostToDevice &&
         stage != prover::stage::kDeviceToHost;
}

}  // namespace

void DeviceMeter::SawMemory(const prover::MemoryInfo& memory, TimePoint now) {
  memory_ = memory;
  memory_seen_ = now;
}

prover::DeviceTimes DeviceMeter::Ended(const prover::Timeline& timeline, uint64_t witness_bytes) {
  const prover::DeviceTimes times = prover::TimesOf(timeline);
  kernels_ += times.kernels;
  if (times.copy_to_device > Duration{}) copied_to_device_ += witness_bytes;
  TimePoint last{};
  for (const prover::TimelineEvent& event : timeline) {
    stage_time_[event.stage] += event.end - event.begin;
    if (IsKernel(event.stage)) recent_.emplace_back(event.begin, event.end);
    last = std::max(last, event.end);
  }
  std::erase_if(recent_, [&](const Stretch& stretch) { return stretch.second < last - kShown; });
  return times;
}

void DeviceMeter::Proved(const std::string& circuit, Duration kept) {
  partitions_++;
  const auto [it, first] = pace_.emplace(circuit, kept);
  if (first) return;
  it->second = std::chrono::duration_cast<Duration>(it->second * (1 - kLatest)) +
               std::chrono::duration_cast<Duration>(kept * kLatest);
}

std::optional<Duration> DeviceMeter::Pace(const std::string& circuit) const {
  const auto it = pace_.find(circuit);
  return it == pace_.end() ? std::nullopt : std::optional(it->second);
}

double DeviceMeter::BusyShare(TimePoint now) const {
  const TimePoint from = std::max(started_, now - kShown);
  if (now <= from) return 0;
  std::vector<Stretch> stretches(recent_.begin(), recent_.end());
  std::sort(stretches.begin(), stretches.end());
  Duration busy{};
  TimePoint end = from;
  for (const auto& [begin, stop] : stretches) {
    const TimePoint a = std::max(begin, end), b = std::min(stop, now);
    if (b > a) busy += b - a;
    end = std::max(end, b);
  }
  return Seconds(busy) / Seconds(now - from);
}

void DeviceMeter::Describe(TimePoint now, DeviceStatus& out) const {
  out.memory = memory_;
  out.memory_seconds_ago = Seconds(now - memory_seen_);
  out.partitions_total = partitions_;
  out.busy_seconds_total = Seconds(kernels_);
  out.busy_share = BusyShare(now);
  out.copied_to_device_bytes_total = copied_to_device_;
  for (const auto& [stage, time] : stage_time_) out.stage_seconds.emplace(stage, Seconds(time));
}

}  // namespace cuzk::engine
