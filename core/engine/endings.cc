// How jobs end: at once, or where they are stored once that is written; what is kept of them; whether the store
// answers.

#include <algorithm>
#include <utility>

#include "core/engine/pipeline.h"

namespace cuzk::engine {

void Pipeline::StopWork(BoardLock& lock, Job& job) {
  job.stage = ProgressOf(job).stage;
  // Freed after the lock: these may be large.
  struct Remains {
    Passage passage;
    filecoin::VanillaRequest vanilla;
    std::shared_ptr<const ParsedJob> parsed;
  };
  auto remains = std::make_shared<Remains>(
      Remains{Passage(board_.in_flight, board_.admission), std::move(job.vanilla), std::move(job.parsed)});
  lock.After([remains]() mutable { remains.reset(); });
  job.memory.Release();
  if (std::exchange(job.loading, false)) StopUnwantedLoads(job);
  job.stop.request_stop();
  board_.scheduler.Remove(job.key);
  board_.admission.Notify();
}

bool Pipeline::End(BoardLock& lock, Job& job, JobState state, std::string text) {
  if (Over(job)) return false;
  StopWork(lock, job);
  if (parts_.store == nullptr || job.row == 0) {
    Conclude(lock, job, state, std::move(text));
    return true;
  }
  bool completed = state == JobState::kCompleted;
  store::StoredJob stored{.row = job.row, .state = RowStateOf(state), .finished_ms = Clock::System().WallMs()};
  (completed ? stored.proof : stored.error) = text;
  if (completed) {
    stored.times = job.timings;
    stored.times.total_ms = Milliseconds(Now() - job.submitted);
  }
  job.ending = Ending{state, std::move(text)};
  Write({StoreRecord::What::kEnd, board_.jobs.Find(job.key), std::move(stored)});
  return true;
}

void Pipeline::Conclude(BoardLock& lock, Job& job, JobState state, std::string text) {
  bool completed = state == JobState::kCompleted;
  std::string error = completed ? "" : text;
  auto ended = board_.jobs.Find(job.key);  // it may be forgotten at once
  board_.jobs.Finish(job, state, completed ? std::move(text) : std::string(), error, Now());
  KindStatus& kind = board_.kinds[job.facts.kind];
  if (completed) kind.completed_total++;
  if (state == JobState::kCancelled) kind.cancelled_total++;
  if (state == JobState::kFailed) {
    kind.failed_total++;
    Note(StrCat(job.id, ": ", error));
  }
  Publish(job);
  board_.ended.notify_all();
  if (parts_.engine->observer == nullptr) return;
  job.reporting = true;
  lock.After([this, ended, result = ResultOf(job)] { Report(*ended, result); });
}

void Pipeline::Report(Job& job, const JobResult& result) {
  parts_.engine->observer->OnJob(result, std::chrono::duration<double>(*job.finished - job.submitted).count());
  BoardLock lock(board_);
  job.reporting = false;
  board_.ended.notify_all();
}

std::vector<std::shared_ptr<Job>> Pipeline::Unfinished() const {
  std::vector<std::shared_ptr<Job>> unfinished;
  for (const auto& [key, job] : board_.jobs.jobs()) {
    if (!Over(*job)) unfinished.push_back(job);
  }
  return unfinished;
}

uint32_t Pipeline::StopAll(BoardLock& lock, JobState state, const std::string& text) {
  auto unfinished = Unfinished();
  for (const auto& job : unfinished) {
    if (parts_.store != nullptr && job->row != 0) {
      StopWork(lock, *job);
      job->suspended = true;
    } else {
      End(lock, *job, state, text);
    }
  }
  board_.ended.notify_all();
  return static_cast<uint32_t>(unfinished.size());
}

Status Pipeline::Kept(const Job& job) const {
  return absl::UnavailableError(StrCat(board_.refusing.empty() ? "the daemon stopped" : board_.refusing, "; job ",
                                       job.id, " is kept and goes on at the next start"));
}

bool Pipeline::Drained() const {
  const auto& jobs = board_.jobs.jobs();
  return std::all_of(jobs.begin(), jobs.end(),
                     [](const auto& entry) { return IsFinal(entry.second->state) || entry.second->suspended; });
}

void Pipeline::Fetched(Job& job) {
  if (!board_.jobs.Fetched(job)) return;
  if (job.row != 0) Write({StoreRecord::What::kFetched, nullptr, store::StoredJob{.row = job.row}});
}

void Pipeline::Forget(int64_t row) {
  if (row != 0) Write({StoreRecord::What::kForget, nullptr, store::StoredJob{.row = row}});
}

std::optional<TimePoint> Pipeline::StoreAsked() const {
  if (parts_.store == nullptr) return std::nullopt;
  std::optional<TimePoint> oldest = parts_.store->health().OldestOperation();
  std::optional<TimePoint> record = board_.recording;
  if (!record && !board_.records.empty()) record = board_.records.front().since;
  return oldest && record ? std::min(*oldest, *record) : oldest ? oldest : record;
}

Status Pipeline::StoreAnswers() const {
  return parts_.store == nullptr ? absl::OkStatus() : parts_.store->health().Answers();
}

}  // namespace cuzk::engine
