// The engine and its store: what is written when a job is accepted, and what is taken up after a restart.

#include <algorithm>
#include <utility>

#include "core/engine/engine_impl.h"

namespace cuzk::engine {
namespace {

std::shared_ptr<Job> EndedJob(const store::StoredJob& stored) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) {
  auto job = std::make_shared<Job>();
  job->id = stored.id;
  job->facts.kind = stored.kind;
  job->digest = stored.digest;
  job->priority = static_cast<Priority>(stored.priority);
  job->subject = stored.subject;
  job->row = stored.row;
  job->life = JobLife(stored.fetched ? Life::kFetched : Life::kEnded);
  job->outcome = JobStateOf(stored.state);
  job->error = job->message = stored.error;
  job->timings = stored.times;
  if (job->outcome == JobState::kCompleted) {
    job->proof = std::make_shared<const std::string>(stored.proof);
    job->fraction = 1;
  }
  return job;
}

/// What the history says of the time before the restart.
struct Remembered {
  int64_t last_number = 0;
  store::Totals totals;
  std::vector<store::NotedError> errors;
};

StatusOr<Remembered> ReadHistory(const store::JobStore& store) {
  Remembered remembered;
  CUZK_ASSIGN_OR_RETURN(const store::HistoryReader* history, store.history());
  CUZK_ASSIGN_OR_RETURN(remembered.last_number, history->LastNumber());
  CUZK_ASSIGN_OR_RETURN(remembered.totals, history->ReadTotals());
  CUZK_ASSIGN_OR_RETURN(remembered.errors, history->Errors());
  return remembered;
}

}  // namespace

Status Engine::Impl::Store(Submission& submission, uint64_t most_bytes) {
  if (store == nullptr) return absl::OkStatus();
  store::StoredJob stored{.id = submission.job_id,
                          .kind = submission.facts.kind,
                          .priority = static_cast<uint8_t>(submission.priority),
                          .digest = submission.digest,
                          .submitted_ms = parts.clock->WallMs(),
                          .subject = submission.subject};
  if (!HasReserve(submission.facts.kind)) {
    CUZK_ASSIGN_OR_RETURN(submission.row, store->Accept(stored, submission.vanilla, most_bytes));
    return absl::OkStatus();
  }
  const Status healthy = store->health().Check();
  const StatusOr<int64_t> row =
      healthy.ok() ? urgent_store->Accept(stored, submission.vanilla, most_bytes) : StatusOr<int64_t>(healthy);
  if (row.ok()) {
    submission.row = *row;
    return absl::OkStatus();
  }
  StateLock lock(state(), Actor::kCaller);
  state().counters.store_errors_total++;
  pipeline.reports().Warn(lock, StrCat(submission.job_id, ": proved without being stored: ", row.status().message()));
  return absl::OkStatus();
}

Status Engine::Impl::Restore() {
  if (store == nullptr) return absl::OkStatus();
  CUZK_ASSIGN_OR_RETURN(const std::vector<store::StoredJob> jobs, store->Load());
  const int64_t wall = parts.clock->WallMs();
  auto ago = [wall](int64_t then_ms) { return std::chrono::milliseconds(std::max<int64_t>(0, wall - then_ms)); };
  StateLock lock(state(), Actor::kCaller);
  const TimePoint now = Now();
  RestoreHistory(lock, now, wall);
  state().counters.store_damaged_total = store->damaged().size();
  for (const std::string& damage : store->damaged()) pipeline.reports().Warn(lock, damage);
  for (const store::StoredJob& stored : jobs) {
    const TimePoint submitted = now - ago(stored.submitted_ms);
    if (!store::HasEnded(stored.state)) {
      RestoreUnfinished(lock, stored, submitted);
      continue;
    }
    std::shared_ptr<Job> job = EndedJob(stored);
    job->submitted = submitted;
    state().jobs.AddEnded(std::move(job), now, ago(stored.finished_ms));
  }
  if (parts.observer == nullptr || jobs.empty()) return absl::OkStatus();
  const auto unfinished = static_cast<size_t>(
      std::count_if(jobs.begin(), jobs.end(), [](const auto& stored) { return !store::HasEnded(stored.state); }));
  lock.After([observer = parts.observer, unfinished, results = jobs.size() - unfinished] {
    observer->OnRecovered(unfinished, results);
  });
  return absl::OkStatus();
}

void Engine::Impl::RestoreHistory(StateLock& lock, TimePoint now, int64_t wall_ms) {
  const StatusOr<Remembered> remembered = ReadHistory(*store);
  if (!remembered.ok()) {
    state().history.KeepInMemory();
    pipeline.reports().Warn(lock,
                            StrCat("the history of jobs cannot be used; it is kept in memory until the next start: ",
                                   remembered.status().message()));
    return;
  }
  state().history.Continue(remembered->last_number);
  for (const auto& [what, jobs] : remembered->totals) state().kinds[what.first].Total(JobStateOf(what.second)) = jobs;
  for (const store::NotedError& error : remembered->errors) {
    const std::chrono::milliseconds ago(std::max<int64_t>(0, wall_ms - error.at_ms));
    state().last_errors.push_back({error.text, now - ago});
  }
}

void Engine::Impl::RestoreUnfinished(StateLock& lock, const store::StoredJob& stored, TimePoint submitted) {
  Submission submission{.job_id = stored.id,
                        .digest = stored.digest,
                        .priority = static_cast<Priority>(stored.priority),
                        .payload_bytes = stored.payload_bytes,
                        .subject = stored.subject,
                        .row = stored.row,
                        .stored_bytes = std::max<uint64_t>(1, stored.payload_bytes),
                        .losses = stored.losses};
  submission.facts.kind = stored.kind;
  submission.facts.proof = filecoin::FindRegisteredProof(stored.kind, stored.registered_proof);
  // The caller that set a deadline has lost its connection, and may set another one when it comes back. The operator's
  // limit stays.
  submission.deadline = pipeline.jobs().WithinLimit(std::nullopt, submitted);
  std::shared_ptr<Job> job = state().jobs.Add(std::move(submission), submitted);
  pipeline.jobs().Enter(*job);
  pipeline.jobs().GiveUp(lock, *job, "the daemon crashed");
}

}  // namespace cuzk::engine
