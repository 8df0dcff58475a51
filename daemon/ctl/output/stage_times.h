#pragma once
// Where the time of a job went, added up from the daemon's timeline.

#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace cuzk::daemon {

struct StageTime {
  std::string track;  ///< what kind of thread: "synthesis", "device", "finisher"
  std::string name;   ///< of the stage
  double seconds = 0;
};

/// The stages of the newest job with that id in a Chrome trace, in order of their first appearance. InvalidArgument if
/// the text is no trace.
StatusOr<std::vector<StageTime>> StageTimes(std::string_view trace_json, std::string_view job_id);

}  // namespace cuzk::daemon
