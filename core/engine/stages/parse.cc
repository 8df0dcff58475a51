#include "core/engine/stages/parse.h"

#include <utility>

namespace cuzk::engine {

/// The request, with its memory in `parsed`. CANCELLED if the job is over.
StatusOr<filecoin::VanillaRequest> ParseStage::TakeRequest(Job& job, ParsedJob* parsed) {
  uint64_t stored_bytes = 0;
  {
    StateLock lock(c_.state, Actor::kSynthesis);
    if (Over(job)) return absl::CancelledError("the job is over");
    parsed->memory = std::move(job.memory);
    stored_bytes = job.stored_bytes;
    if (stored_bytes == 0) return std::exchange(job.vanilla, {});
  }
  StatusOr<filecoin::VanillaRequest> stored = c_.store->ReadPayload(job.row, job.digest);
  if (stored.ok()) return stored;
  StateLock lock(c_.state, Actor::kSynthesis);
  c_.state.counters.store_damaged_total++;
  return Annotate(stored.status(), "the stored request is lost");
}

void ParseStage::Parse(ParseTask task, const std::string& track) {
  Job& job = *task.job;
  auto parsed = std::make_shared<ParsedJob>();
  const TimePoint begin = c_.Now();
  StatusOr<filecoin::VanillaRequest> vanilla = TakeRequest(job, parsed.get());
  if (!vanilla.ok()) {
    StateLock lock(c_.state, Actor::kSynthesis);
    c_.jobs.Fail(lock, job, StrCat(vanilla.status().message(), "; send it again"));
    return;
  }
  const uint64_t parsed_bytes = c_.work.ParsedBytes(vanilla->payload_bytes());
  auto request = c_.work.Parse(*std::move(vanilla));
  c_.reports.Draw(job, 0, "parse", track, begin);
  if (request.ok() && request->partitions.empty()) request = absl::InternalError("the request has no partitions");
  if (!request.ok()) {
    StateLock lock(c_.state, Actor::kSynthesis);
    c_.jobs.End(lock, job, FailureOf(request.status()));
    return;
  }
  const Duration took = c_.Now() - begin;
  parsed->memory.ShrinkTo(parsed_bytes);
  parsed->request = *std::move(request);
  {
    StateLock lock(c_.state, Actor::kSynthesis);
    if (Over(job)) return;
    c_.jobs.Parsed(lock, job, std::move(parsed));
  }
  c_.reports.Measured(job, Stage::kParsing, took, Actor::kSynthesis);
}

}  // namespace cuzk::engine
