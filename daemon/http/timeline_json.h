#pragma once
// GET /timeline: what the live page draws.

#include <memory>
#include <string>
#include <vector>

#include "core/engine/engine.h"

namespace cuzk::daemon {

/// The page shows so much at most; older bars are in /trace.
inline constexpr std::chrono::minutes kTimelineWindow{15};
inline constexpr size_t kTimelineBars = 3000;

/// Bars by track: {"now", "window_secs", "tracks": [{"name", "bars": [{"name", "job_id", "key", "partition", "begin",
/// "end"}]}]}. Times are seconds of one clock, on which it is `now`; job_id, key and partition are null where a bar is
/// of no job. Tracks are in the order of their names, bars in the order in which they ended.
std::string TimelineJson(const engine::Engine& engine);
/// The same from what was asked for already.
std::string TimelineJson(const std::vector<std::shared_ptr<const engine::TimelineBar>>& bars, engine::TimePoint now);

}  // namespace cuzk::daemon
