#include "core/prover/device/device_times.h"

#include <algorithm>

namespace cuzk::prover {
namespace {

/// The length of the union of the events.
Duration Covered(Timeline events) {
  std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  Duration covered{};
  TimePoint end{};
  for (const TimelineEvent& event : events) {
    const TimePoint begin = covered == Duration{} ? event.begin : std::max(event.begin, end);
    if (event.end <= begin) continue;
    covered += event.end - begin;
    end = event.end;
  }
  return covered;
}

}  // namespace

DeviceTimes TimesOf(const Timeline& timeline) {
  DeviceTimes times;
  Timeline kernels;
  for (const TimelineEvent& event : timeline) {
    const Duration took = event.end - event.begin;
    if (event.stage == stage::kLeaseWait) {
      times.compute_wait += took;
    } else if (event.stage == stage::kHostToDevice) {
      times.copy_to_device += took;
    } else if (event.stage == stage::kDeviceToHost) {
      times.copy_to_host += took;
    } else {
      kernels.push_back(event);
    }
  }
  times.kernels = Covered(std::move(kernels));
  return times;
}

}  // namespace cuzk::prover
