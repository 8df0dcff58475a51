#include "core/engine/engine.h"

#include <algorithm>
#include <utility>

#include "core/engine/engine_impl.h"
#include "core/engine/intake.h"

namespace cuzk::engine {
namespace {

prover::ParameterStoreOptions ParameterOptions(const EngineOptions& options, memory::Budget* budget) {
  return {.budget = budget,
          .allow_development = options.allow_development,
          .digest = options.digest,
          .points = options.points,
          .plan = {.workers = options.workers_per_device, .layout = options.layout}};
}

}  // namespace

Engine::Impl::Impl(EngineOptions engine_options, EngineParts engine_parts, std::unique_ptr<store::JobStore> job_store)
    : options(std::move(engine_options)),
      parts(std::move(engine_parts)),
      started(std::chrono::steady_clock::now()),
      max_unfinished_jobs(options.max_unfinished_jobs),
      own_work(options.layout, parts.arithmetic),
      own_parameters(options.parameter_directory, ParameterOptions(options, parts.budget)),
      work(parts.seams.work != nullptr ? parts.seams.work : &own_work),
      parameters(parts.seams.parameters != nullptr ? parts.seams.parameters : &own_parameters),
      timeline(started),
      store(std::move(job_store)),
      pipeline(PipelineParts{&options, &parts, work, parameters, &events, &timeline, store.get()}) {}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Engine::~Engine() { impl_->events.End(); }

StatusOr<std::unique_ptr<Engine>> Engine::Create(EngineOptions options, EngineParts parts) {
  if (parts.budget == nullptr || parts.pool == nullptr)
    return absl::InternalError("the engine needs a budget and a pool");
  if (parts.devices.empty()) return absl::FailedPreconditionError("no device to prove on");
  std::unique_ptr<store::JobStore> store;
  if (!options.state_directory.empty()) {
    CUZK_ASSIGN_OR_RETURN(store, store::JobStore::Open({.directory = options.state_directory,
                                                        .patience = parts.seams.store_patience,
                                                        .seam = parts.seams.store}));
  }
  auto impl = std::make_unique<Impl>(std::move(options), std::move(parts), std::move(store));
  CUZK_RETURN_IF_ERROR(impl->Restore());
  return std::unique_ptr<Engine>(new Engine(std::move(impl)));
}

Status Engine::Impl::Working() const {
  const Board& board = pipeline.board();
  if (board.draining || board.stopping) return absl::UnavailableError("the daemon is draining");
  if (!board.refusing.empty()) return absl::UnavailableError(board.refusing);
  return absl::OkStatus();
}

Status Engine::Ready() const {
  BoardLock lock(impl_->pipeline.board());
  CUZK_RETURN_IF_ERROR(impl_->Working());
  return impl_->store != nullptr ? impl_->store->health().Check() : absl::OkStatus();
}

Status Engine::AwaitLoss(std::stop_token stop) const {
  Board& board = impl_->pipeline.board();
  BoardLock lock(board);
  board.ended.wait(lock.get(), stop, [&] { return !board.refusing.empty(); });
  return board.refusing.empty() ? absl::OkStatus() : absl::UnavailableError(board.refusing);
}

void Engine::SetLimits(const EngineLimits& limits) {
  BoardLock lock(impl_->pipeline.board());
  JobTable& jobs = impl_->pipeline.board().jobs;
  impl_->max_unfinished_jobs = limits.max_unfinished_jobs;
  impl_->pipeline.board().max_job_time = limits.max_job_time;
  jobs.SetRetention({limits.max_results, limits.result_age});
  jobs.Prune(impl_->pipeline.Now());
}

StatusOr<JobTicket> Engine::Submit(ProofRequest request) {
  auto ticket = impl_->Submit(std::move(request));
  if (!ticket.ok()) {
    BoardLock lock(impl_->pipeline.board());
    impl_->pipeline.board().counters.refused_total++;
  }
  return ticket;
}

StatusOr<JobTicket> Engine::Impl::Submit(ProofRequest request) {
  Board& board = pipeline.board();
  Passage taken_in;  // while the submission holds memory and is no job yet; destroyed after it
  CUZK_ASSIGN_OR_RETURN(Submission submission, TakeIn(std::move(request), *work, options));
  {
    BoardLock lock(board);
    submission.deadline = pipeline.WithinLimit(submission.deadline, pipeline.Now());
    CUZK_ASSIGN_OR_RETURN(std::optional<JobTicket> joined, JoinOrRefuse(submission));
    if (joined) return *joined;
    CUZK_RETURN_IF_ERROR(pipeline.StoreAnswers());
  }
  // What a PoRep is shows only in its C1.
  if (submission.facts.kind != filecoin::Kind::kPorep && !parameters->Available(*submission.facts.proof->circuit)) {
    return parameters->Missing(*submission.facts.proof->circuit);
  }
  taken_in = Passage(board.in_flight, board.admission);
  CUZK_RETURN_IF_ERROR(ReserveFor(submission, *work, *parts.budget, pipeline.request_limit()));
  CUZK_RETURN_IF_ERROR(Store(submission));
  BoardLock lock(board);
  StatusOr<std::optional<JobTicket>> joined = JoinOrRefuse(submission);
  if (!joined.ok() || *joined) {
    pipeline.Forget(submission.row);
    if (!joined.ok()) return joined.status();
    return **joined;
  }
  uint32_t position = board.jobs.unfinished();
  std::shared_ptr<Job> job = board.jobs.Add(std::move(submission), pipeline.Now());
  board.counters.submitted_total++;
  pipeline.Enter(*job);
  return JobTicket{.job_id = job->id, .key = job->key, .queue_position = position};
}

StatusOr<std::optional<JobTicket>> Engine::Impl::JoinOrRefuse(const Submission& submission) {
  Board& board = pipeline.board();
  CUZK_RETURN_IF_ERROR(Working());
  if (auto job = board.jobs.FindEqual(submission.job_id, submission.facts.kind, submission.digest)) {
    pipeline.Join(*job, submission.priority, submission.deadline);
    uint32_t position = 0;
    for (const auto& [key, other] : board.jobs.jobs()) position += key < job->key && !IsFinal(other->state);
    return JobTicket{.job_id = job->id, .key = job->key, .queue_position = position, .joined = true};
  }
  const uint32_t reserve = submission.facts.kind == filecoin::Kind::kWinning ? kReservedJobs : 0;
  if (board.jobs.unfinished() >= max_unfinished_jobs + reserve) {
    return absl::ResourceExhaustedError(StrCat("the queue is full: ", board.jobs.unfinished(), " jobs are unfinished"));
  }
  return std::optional<JobTicket>();
}

StatusOr<JobResult> Engine::Impl::AwaitJob(BoardLock& lock, std::shared_ptr<Job> job, std::optional<TimePoint> until,
                                           std::stop_token stop) {
  // The observer knows of every end before the callers do: who has an answer finds it counted.
  auto ended = [&] { return (IsFinal(job->state) && !job->reporting) || job->suspended; };
  auto& changed = pipeline.board().ended;
  bool done = until ? changed.wait_until(lock.get(), stop, *until, ended) : changed.wait(lock.get(), stop, ended);
  if (job->suspended) return pipeline.Kept(*job);
  if (done) {
    job->handed++;
    return ResultOf(*job);
  }
  if (stop.stop_requested()) return absl::CancelledError("the caller stopped waiting");
  return absl::DeadlineExceededError("the job has not ended yet");
}

StatusOr<JobResult> Engine::Await(uint64_t key, std::optional<TimePoint> until, std::stop_token stop) {
  BoardLock lock(impl_->pipeline.board());
  auto job = impl_->pipeline.board().jobs.Find(key);
  if (job == nullptr) return absl::NotFoundError("the result is no longer kept");
  return impl_->AwaitJob(lock, std::move(job), until, std::move(stop));
}

StatusOr<JobResult> Engine::Await(const std::string& job_id, std::optional<TimePoint> until, std::stop_token stop) {
  BoardLock lock(impl_->pipeline.board());
  auto job = impl_->pipeline.board().jobs.Newest(job_id);
  if (job == nullptr) return absl::NotFoundError(StrCat("no job ", job_id, " is known"));
  return impl_->AwaitJob(lock, std::move(job), until, std::move(stop));
}

void Engine::Delivered(uint64_t key, bool taken) {
  BoardLock lock(impl_->pipeline.board());
  auto job = impl_->pipeline.board().jobs.Find(key);
  if (job == nullptr) return;  // its time was over meanwhile
  if (job->handed > 0) job->handed--;
  if (taken) impl_->pipeline.Fetched(*job);
}

StatusOr<bool> Engine::Cancel(const std::string& job_id) {
  BoardLock lock(impl_->pipeline.board());
  auto job = impl_->pipeline.board().jobs.Newest(job_id);
  if (job == nullptr) return absl::NotFoundError(StrCat("no job ", job_id, " is known"));
  const bool was_unfinished = impl_->pipeline.End(lock, *job, JobState::kCancelled, "cancelled by request");
  auto ended = [&] { return IsFinal(job->state) || job->suspended; };
  if (!impl_->pipeline.board().ended.wait_for(lock.get(), impl_->parts.seams.store_patience, ended)) {
    CUZK_RETURN_IF_ERROR(Annotate(impl_->pipeline.StoreAnswers(), StrCat(job_id, " has stopped")));
    return absl::UnavailableError(StrCat(job_id, " has stopped; the job store is slow to take that"));
  }
  if (job->suspended) return impl_->pipeline.Kept(*job);
  return was_unfinished;
}

void Engine::Abandon(const JobTicket& ticket) {
  BoardLock lock(impl_->pipeline.board());
  auto job = impl_->pipeline.board().jobs.Find(ticket.key);
  if (job == nullptr || Over(*job) || job->callers == 0) return;
  if (--job->callers == 0) impl_->pipeline.End(lock, *job, JobState::kCancelled, "its caller went away");
}

StatusOr<std::shared_ptr<Watcher>> Engine::Watch(const std::string& job_id) {
  BoardLock lock(impl_->pipeline.board());
  const JobTable& jobs = impl_->pipeline.board().jobs;
  std::vector<JobProgress> present;
  if (job_id.empty()) {
    for (const auto& [key, job] : jobs.jobs()) {
      if (!IsFinal(job->state)) present.push_back(impl_->pipeline.ProgressOf(*job));
    }
    return impl_->events.Watch(std::nullopt, present);
  }
  auto job = jobs.Newest(job_id);
  if (job == nullptr) return absl::NotFoundError(StrCat("no job ", job_id, " is known"));
  present.push_back(impl_->pipeline.ProgressOf(*job));
  return impl_->events.Watch(job->key, present);
}

std::string Engine::TimelineJson() const { return impl_->timeline.ToJson(); }

std::vector<std::shared_ptr<const TimelineBar>> Engine::Timeline(TimePoint since, size_t most) const {
  return impl_->timeline.Since(since, most);
}

uint32_t Engine::Drain(TimePoint until) {
  Board& board = impl_->pipeline.board();
  uint32_t left;
  {
    BoardLock lock(board);
    board.draining = true;
    board.ended.wait_until(lock.get(), until, [&] { return impl_->pipeline.Drained(); });
    left = impl_->pipeline.StopAll(lock, JobState::kFailed, "the daemon stopped before the proof was done");
  }
  impl_->pipeline.StopLoading();
  // Whoever ends the process from here on, it was no job.
  if (impl_->store == nullptr) return left;
  if (Status unmarked = impl_->store->Unmark(); !unmarked.ok()) {
    BoardLock lock(board);
    impl_->pipeline.Warn(lock,
                         StrCat(unmarked.message(), ": jobs that are in work now count as lost at the next start"));
  }
  return left;
}

}  // namespace cuzk::engine
