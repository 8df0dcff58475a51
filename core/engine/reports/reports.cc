#include "core/engine/reports/reports.h"

#include <algorithm>
#include <utility>

#include "core/engine/jobs/progress.h"
#include "core/engine/jobs/queue_order.h"

namespace cuzk::engine {
namespace {

/// Adds to what a job has spent on a stage that its timings do not have.
void Spend(Job& job, Stage stage, uint64_t milliseconds) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) {
  if (stage == Stage::kParsing) job.spent.parsing_ms += milliseconds;
  if (stage == Stage::kFinishing) job.spent.finishing_ms += milliseconds;
  if (stage == Stage::kVerifying) job.spent.verifying_ms += milliseconds;
}

/// A forecast is right for so long: many jobs ask for theirs at once.
constexpr std::chrono::milliseconds kForecastAge{100};

}  // namespace

void Reports::LookAhead(const Job& job) const {
  const TimePoint now = clock_.Now();
  const bool has = seconds_left_.contains(job.key) && (!Waits(job) || places_.contains(job.key));
  if (has && now - looked_ahead_ < kForecastAge) return;
  std::vector<Outlook> outlooks;
  for (const auto& [key, other] : state_.jobs.jobs()) {
    if (!Over(*other)) outlooks.push_back(OutlookOf(*other));
  }
  seconds_left_ = Forecast(std::move(outlooks), state_.estimator,
                           {.synthesis_threads = state_.synthesis_threads, .devices = state_.usable_devices});
  places_ = PlacesOf(state_.jobs);
  looked_ahead_ = now;
}

JobProgress Reports::ProgressOf(Job& job) const {
  job.last_stage = StageOf(job);
  job.fraction = std::max(job.fraction, state_.estimator.Fraction(job));
  uint32_t done = 0;
  for (const PartitionRecord& partition : job.partitions) done += partition.proof.has_value();
  if (!Over(job)) LookAhead(job);
  return JobProgress{.job_id = job.id,
                     .key = job.key,
                     .kind = job.facts.kind,
                     .state = StateOf(job),
                     .stage = job.last_stage,
                     .partitions_total = job.partitions_total,
                     .partitions_done = done,
                     .fraction = job.fraction,
                     .seconds_left = Over(job) ? 0 : seconds_left_[job.key],
                     .jobs_before = Waits(job) ? JobsBefore(PlaceIn(places_, job)) : 0,
                     .worker = job.worker,
                     .message = job.message,
                     .bad_sectors = job.bad_sectors,
                     .failure = job.failure,
                     .priority = job.priority,
                     .age_seconds = Seconds(clock_.Now() - job.submitted)};
}

void Reports::Publish(Job& job) const {
  if (events_.watched()) events_.Publish(ProgressOf(job));
}

void Reports::Note(std::string text) {
  state_.history.Add(store::NotedError{.at_ms = clock_.WallMs(), .text = text});
  state_.record_work.NotifyAll();
  state_.last_errors.push_front(ErrorNote{std::move(text), clock_.Now()});
  if (state_.last_errors.size() > store::kErrorsKept) state_.last_errors.pop_back();
}

void Reports::Warn(StateLock& lock, std::string text) {
  Note(text);
  if (observer_ == nullptr) return;
  lock.After([observer = observer_, text = std::move(text)] { observer->OnWarning(text); });
}

void Reports::Measured(Job& job, Stage stage, Duration took, Actor actor) {
  {
    StateLock lock(state_, actor);
    state_.estimator.Measured(job.circuit, stage, Seconds(took));
    Spend(job, stage, Milliseconds(took));
  }
  if (observer_ != nullptr) observer_->OnStage(job.facts.kind, stage, Seconds(took));
}

void Reports::MeasuredDevice(const Job& job, Duration took) {
  {
    StateLock lock(state_, Actor::kWorker);
    if (Over(job)) return;
  }
  if (observer_ != nullptr) observer_->OnStage(job.facts.kind, Stage::kDevice, Seconds(took));
}

void Reports::MeasuredLoad(filecoin::Kind kind, double seconds) const {
  if (observer_ != nullptr) observer_->OnStage(kind, Stage::kLoadingParameters, seconds);
}

void Reports::Draw(const Job& job, uint32_t partition, std::string_view name, const std::string& track,
                   TimePoint begin) {
  timeline_.Add(TimelineBar{.track = track,
                            .name = name,
                            .begin = begin,
                            .end = clock_.Now(),
                            .job_key = job.key,
                            .job_id = job.id,
                            .partition = partition});
}

}  // namespace cuzk::engine
