#pragma once
// The first station of a job: its request becomes partitions. It has no threads of its own: its tasks are in the queue
// of the synthesis threads, since both take a processor for as long as they last.

#include <string>

#include "core/engine/stages/context.h"
#include "core/engine/stages/tasks.h"

namespace cuzk::engine {

/// Thread-safe.
class ParseStage {
 public:
  explicit ParseStage(const StageContext& context) : c_(context) {}
  /// Parses a request, which is read from the store first if it is there alone. `track` is the thread's in the
  /// timeline.
  void Parse(ParseTask task, const std::string& track);

 private:
  StatusOr<filecoin::VanillaRequest> TakeRequest(Job& job, ParsedJob* parsed);

  const StageContext& c_;
};

}  // namespace cuzk::engine
