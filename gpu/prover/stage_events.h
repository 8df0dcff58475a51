#pragma once
// When stages of a partition began and ended on the card, by events in its streams.

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "core/prover/device/device.h"
#include "gpu/runtime/stream.h"

namespace cuzk::gpu {

/// One thread.
class StageEvents {
 public:
  /// A stage that begins with what is enqueued next on `stream`.
  Status Begin(std::string_view stage, StreamView stream);
  /// The stage that began last ends with what was enqueued last on `stream`.
  Status End(StreamView stream);
  /// Later work of `stream` waits for the end of the stage that ended last.
  Status AwaitLast(StreamView stream) const { return stages_.back().end.Wait(stream); }
  /// The last call: everything is done once `stream` has come this far.
  Status Finish(StreamView stream);

  /// After the streams are done, everything having ended at `end`. Empty without Finish.
  StatusOr<prover::Timeline> Times(std::chrono::steady_clock::time_point end) const;

 private:
  struct Stage {
    std::string_view name;
    Event begin, end;
  };
  std::vector<Stage> stages_;
  std::optional<Event> finished_;
};

}  // namespace cuzk::gpu
