#include "daemon/app/watch/stall_watch.h"

#include <algorithm>

namespace cuzk::daemon {
namespace {

/// Looks are about a second apart; on a machine that is very busy, some.
constexpr std::chrono::seconds kLongPause{10};

}  // namespace

std::vector<size_t> StallWatch::See(const LivenessSample& sample, engine::TimePoint now) {
  const bool first = devices_.empty();
  devices_.resize(sample.devices.size());
  // A process that was stopped has looked at nothing.
  const bool stood_still = !first && now - looked_ >= std::max<engine::Duration>(patience_ / 2, kLongPause);
  looked_ = now;
  size_t moving = 0;
  std::vector<size_t> stalled;
  for (size_t i = 0; i < devices_.size(); ++i) {
    const LivenessSample::Device& seen = sample.devices[i];
    Mover& device = devices_[i];
    const bool moved =
        first || stood_still || !seen.busy || seen.lost || sample.store_hangs || device.work != seen.work;
    if (moved) device.moved = now;
    device.work = seen.work;
    if (seen.lost) continue;
    if (now - device.moved <= patience_) {
      ++moving;
    } else if (!seen.on_processor) {
      stalled.push_back(i);
    }
  }
  return moving > 0 ? stalled : std::vector<size_t>();
}

}  // namespace cuzk::daemon
