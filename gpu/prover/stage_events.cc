#include "gpu/prover/stage_events.h"

namespace cuzk::gpu {

Status StageEvents::Begin(std::string_view stage, StreamView stream) {
  CUZK_ASSIGN_OR_RETURN(Event begin, Event::Create());
  CUZK_ASSIGN_OR_RETURN(Event end, Event::Create());
  CUZK_RETURN_IF_ERROR(begin.Record(stream));
  stages_.push_back({stage, std::move(begin), std::move(end)});
  return absl::OkStatus();
}

Status StageEvents::End(StreamView stream) { return stages_.back().end.Record(stream); }

Status StageEvents::Finish(StreamView stream) {
  CUZK_ASSIGN_OR_RETURN(finished_, Event::Create());
  return finished_->Record(stream);
}

StatusOr<prover::Timeline> StageEvents::Times(std::chrono::steady_clock::time_point end) const {
  prover::Timeline times;
  if (!finished_) return times;
  auto at = [&](const Event& event) -> StatusOr<std::chrono::steady_clock::time_point> {
    CUZK_ASSIGN_OR_RETURN(float ms, finished_->MillisecondsSince(event));
    return end - std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                     std::chrono::duration<float, std::milli>(ms));
  };
  for (const Stage& stage : stages_) {
    CUZK_ASSIGN_OR_RETURN(auto begin, at(stage.begin));
    CUZK_ASSIGN_OR_RETURN(auto finish, at(stage.end));
    times.push_back({stage.name, begin, finish});
  }
  return times;
}

}  // namespace cuzk::gpu
