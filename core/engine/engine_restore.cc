// The engine and its store: what is written when a job is accepted, what is taken up after a restart.

#include <algorithm>
#include <utility>

#include "core/engine/engine_impl.h"
#include "core/engine/intake.h"

namespace cuzk::engine {
namespace {

std::shared_ptr<Job> EndedJob(const store::StoredJob& stored) {
  auto job = std::make_shared<Job>();
  job->id = stored.id;
  job->facts.kind = stored.kind;
  job->digest = stored.digest;
  job->priority = static_cast<Priority>(stored.priority);
  job->row = stored.row;
  job->state = JobStateOf(stored.state);
  job->error = job->message = stored.error;
  job->timings = stored.times;
  job->fetched = stored.fetched;
  if (stored.state == store::RowState::kCompleted) {
    job->proof = std::make_shared<const std::string>(stored.proof);
    job->fraction = 1;
  }
  return job;
}

}  // namespace

Status Engine::Impl::Store(Submission& submission) {
  if (store == nullptr) return absl::OkStatus();
  store::StoredJob stored{
      .id = submission.job_id, .kind = submission.facts.kind, .priority = static_cast<uint8_t>(submission.priority)};
  stored.digest = submission.digest;
  stored.submitted_ms = Clock::System().WallMs();
  uint64_t most = options.max_stored_bytes;
  if (submission.facts.kind == filecoin::Kind::kWinning) most += ReservedBytes(most);
  CUZK_ASSIGN_OR_RETURN(submission.row, store->Accept(stored, submission.vanilla, most));
  return absl::OkStatus();
}

Status Engine::Impl::Restore() {
  if (store == nullptr) return absl::OkStatus();
  CUZK_ASSIGN_OR_RETURN(std::vector<store::StoredJob> jobs, store->Load());
  const int64_t wall = Clock::System().WallMs();
  auto ago = [wall](int64_t then_ms) { return std::chrono::milliseconds(std::max<int64_t>(0, wall - then_ms)); };
  Board& board = pipeline.board();
  BoardLock lock(board);
  TimePoint now = pipeline.Now();
  board.counters.store_damaged_total = store->damaged().size();
  for (const std::string& damage : store->damaged()) pipeline.Warn(lock, damage);
  for (store::StoredJob& stored : jobs) {
    if (store::HasEnded(stored.state)) {
      std::shared_ptr<Job> job = EndedJob(stored);
      job->submitted = now - ago(stored.submitted_ms);
      board.jobs.AddEnded(std::move(job), now, ago(stored.finished_ms));
      continue;
    }
    Submission submission{
        .job_id = stored.id, .digest = stored.digest, .priority = static_cast<Priority>(stored.priority)};
    submission.facts.kind = stored.kind;
    submission.facts.proof = filecoin::FindRegisteredProof(stored.kind, stored.registered_proof);
    // Whoever set the deadline has lost its connection; whoever comes back may set another. What the operator set
    // stays.
    const TimePoint submitted = now - ago(stored.submitted_ms);
    submission.deadline = pipeline.WithinLimit(std::nullopt, submitted);
    submission.row = stored.row;
    submission.payload_bytes = stored.payload_bytes;
    submission.stored_bytes = std::max<uint64_t>(1, stored.payload_bytes);
    std::shared_ptr<Job> job = board.jobs.Add(std::move(submission), submitted);
    job->losses = stored.losses;
    pipeline.Enter(*job);
    pipeline.GiveUp(lock, *job, "the daemon ended while it worked on it");
  }
  return absl::OkStatus();
}

}  // namespace cuzk::engine
