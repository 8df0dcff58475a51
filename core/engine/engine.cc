#include "core/engine/engine.h"

#include <algorithm>
#include <utility>

#include "core/engine/engine_impl.h"
#include "core/engine/intake.h"

namespace cuzk::engine {
namespace {

/// In the folder of the job store: the files of parameters whose digest was found right.
constexpr char kVerifiedFiles[] = "verified-parameters";

prover::ParameterStoreOptions ParameterOptions(const EngineOptions& options, const EngineParts& parts) {
  const bool keeps = !options.state_directory.empty();
  return {.budget = parts.budget,
          .allow_development = options.allow_development,
          .digest = options.digest,
          .verified_files = keeps ? options.state_directory / kVerifiedFiles : std::filesystem::path(),
          .points = options.points,
          .plan = PlanOptionsOf(options),
          .warn = [observer = parts.observer](const std::string& text) {
            if (observer != nullptr) observer->OnWarning(text);
          }};
}

}  // namespace

Engine::Impl::Impl(EngineOptions engine_options, EngineParts engine_parts, std::unique_ptr<store::JobStore> job_store)
    : options(std::move(engine_options)),
      parts(std::move(engine_parts)),
      started(std::chrono::steady_clock::now()),
      own_work(options.layout, parts.arithmetic),
      own_parameters(options.parameter_directory, ParameterOptions(options, parts)),
      work(parts.seams.work != nullptr ? parts.seams.work : &own_work),
      parameters(parts.seams.parameters != nullptr ? parts.seams.parameters : &own_parameters),
      timeline(started),
      store(std::move(job_store)),
      urgent_store(store == nullptr ? nullptr : std::make_unique<UrgentStore>(*store)),
      pipeline(PipelineParts{.options = options,
                             .engine = parts,
                             .work = *work,
                             .parameters = *parameters,
                             .events = events,
                             .timeline = timeline,
                             .store = store.get(),
                             .request_limit = RequestMemoryLimit(options, *parts.budget)}) {
  if (store == nullptr) return;
  store->OnReplaced([this] {
    StateLock lock(state(), Actor::kCaller);
    state().store_replaced = true;
    state().ended.NotifyAll();
  });
}

Engine::Impl::~Impl() {
  if (store != nullptr) store->OnReplaced(nullptr);
}

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
                                                        .clock = parts.clock,
                                                        .seam = parts.seams.store}));
  }
  auto impl = std::make_unique<Impl>(std::move(options), std::move(parts), std::move(store));
  CUZK_RETURN_IF_ERROR(impl->pipeline.Start());
  CUZK_RETURN_IF_ERROR(impl->Restore());
  return std::unique_ptr<Engine>(new Engine(std::move(impl)));
}

Status Engine::Impl::Working() {
  if (state().draining || state().stopping) return absl::UnavailableError("the daemon is draining");
  if (!state().refusing.empty()) return absl::UnavailableError(state().refusing);
  return absl::OkStatus();
}

std::optional<TimePoint> Engine::Impl::StoreAsked() {
  if (store == nullptr) return std::nullopt;
  const std::optional<TimePoint> operation = store->health().OldestOperation();
  const std::optional<TimePoint> record = pipeline.OldestRecord();
  return operation && record ? std::min(*operation, *record) : operation ? operation : record;
}

Status Engine::Ready() const {
  {
    StateLock lock(impl_->state(), Actor::kCaller);
    CUZK_RETURN_IF_ERROR(impl_->Working());
  }
  return impl_->store != nullptr ? impl_->store->health().Check() : absl::OkStatus();
}

Status Engine::AwaitLoss(std::stop_token stop) const {
  EngineState& state = impl_->state();
  StateLock lock(state, Actor::kCaller);
  while (state.refusing.empty() && !state.store_replaced && !stop.stop_requested()) {
    lock.WaitUntil(state.ended, std::nullopt, stop);
  }
  if (!state.refusing.empty()) return absl::UnavailableError(state.refusing);
  return state.store_replaced ? absl::AbortedError("the directory of the job store was replaced") : absl::OkStatus();
}

void Engine::SetLimits(const EngineLimits& limits) {
  EngineState& state = impl_->state();
  StateLock lock(state, Actor::kCaller);
  state.max_unfinished_jobs = limits.max_unfinished_jobs;
  state.max_job_time = limits.max_job_time;
  state.history_limits = limits.history;
  state.jobs.SetRetention({limits.max_results, limits.result_age});
  impl_->pipeline.jobs().Prune();
}

StatusOr<JobTicket> Engine::Submit(ProofRequest request) {
  auto ticket = impl_->Submit(std::move(request));
  if (!ticket.ok()) CountRefused();
  return ticket;
}

void Engine::CountRefused() {
  StateLock lock(impl_->state(), Actor::kCaller);
  impl_->state().counters.refused_total++;
}

IntakeLimits Engine::Impl::LimitsOf(filecoin::Kind kind) {
  return LimitsFor(kind, {.unfinished_jobs = state().max_unfinished_jobs,
                          .request_memory_bytes = RequestMemoryLimit(options, *parts.budget),
                          .stored_bytes = options.max_stored_bytes});
}

StatusOr<JobTicket> Engine::Impl::Submit(ProofRequest request) {
  Passage taken_in;  // while the submission holds memory and is no job yet; destroyed after it
  CUZK_ASSIGN_OR_RETURN(Submission submission, TakeIn(std::move(request), *work, options));
  IntakeLimits limits;
  {
    StateLock lock(state(), Actor::kCaller);
    limits = LimitsOf(submission.facts.kind);
    submission.deadline = pipeline.jobs().WithinLimit(submission.deadline, Now());
    CUZK_ASSIGN_OR_RETURN(std::optional<JobTicket> joined, JoinOrRefuse(submission));
    if (joined) return *joined;
  }
  if (!HasReserve(submission.facts.kind)) CUZK_RETURN_IF_ERROR(StoreAnswers());
  CUZK_RETURN_IF_ERROR(IsTaken(submission.facts.kind));
  if (const filecoin::Circuit* circuit = work->CircuitOf(submission.facts, submission.vanilla)) {
    CUZK_RETURN_IF_ERROR(MayProve(*circuit));
  }
  taken_in = Passage(state(), state().in_flight);
  CUZK_RETURN_IF_ERROR(ReserveFor(submission, *work, *parts.budget, limits.request_memory_bytes));
  CUZK_RETURN_IF_ERROR(Store(submission, limits.stored_bytes));
  StateLock lock(state(), Actor::kCaller);
  StatusOr<std::optional<JobTicket>> joined = JoinOrRefuse(submission);
  if (!joined.ok() || *joined) {
    pipeline.jobs().Forget(submission.row);
    if (!joined.ok()) return joined.status();
    return **joined;
  }
  const uint32_t position = state().jobs.unfinished();
  std::shared_ptr<Job> job = state().jobs.Add(std::move(submission), Now());
  state().counters.submitted_total++;
  pipeline.jobs().Enter(*job);
  const JobTicket ticket{.job_id = job->id, .key = job->key, .queue_position = position, .stored = IsStored(*job)};
  if (parts.observer != nullptr) {
    lock.After([observer = parts.observer, ticket, kind = job->facts.kind, bytes = job->payload_bytes] {
      observer->OnAccepted(ticket, kind, bytes);
    });
  }
  return ticket;
}

Status Engine::Impl::IsTaken(filecoin::Kind kind) {
  bool taken = false;
  StateLock lock(state(), Actor::kCaller);
  for (const auto& device : pipeline.devices()) {
    if (!Takes(parts, device->number(), kind)) continue;
    if (device->service().works()) return absl::OkStatus();
    taken = true;
  }
  const std::string_view name = filecoin::KindInfo(kind).name;
  if (taken) return absl::UnavailableError(StrCat("no working device proves ", name, " (devices.kinds)"));
  return absl::UnimplementedError(StrCat("no device of this daemon proves ", name, " (devices.kinds)"));
}

Status Engine::Impl::MayProve(const filecoin::Circuit& circuit) {
  if (!parameters->Available(circuit)) return parameters->Missing(circuit);
  CUZK_RETURN_IF_ERROR(pipeline.circuits().ShapeOf(circuit, Actor::kCaller).status());
  StateLock lock(state(), Actor::kCaller);
  return pipeline.circuits().Of(circuit).fits;
}

StatusOr<std::optional<JobTicket>> Engine::Impl::JoinOrRefuse(const Submission& submission) {
  CUZK_RETURN_IF_ERROR(Working());
  const JobTable& jobs = state().jobs;
  if (auto job = jobs.FindEqual(submission.job_id, submission.facts.kind, submission.digest)) {
    pipeline.jobs().Join(*job, submission.priority, submission.deadline);
    uint32_t position = 0;
    for (const auto& [key, other] : jobs.jobs()) position += key < job->key && !HasEnded(other->life.now());
    return JobTicket{
        .job_id = job->id, .key = job->key, .queue_position = position, .joined = true, .stored = IsStored(*job)};
  }
  if (jobs.unfinished() >= LimitsOf(submission.facts.kind).unfinished_jobs) {
    return absl::ResourceExhaustedError(StrCat("the queue is full: ", jobs.unfinished(), " jobs are unfinished"));
  }
  return std::optional<JobTicket>();
}

StatusOr<JobResult> Engine::Impl::AwaitJob(StateLock& lock, std::shared_ptr<Job> job, std::optional<TimePoint> until,
                                           const std::stop_token& stop) {
  // The observer knows of every end before the callers do: an end that a caller knows of is counted.
  bool in_time = true;
  while (!IsAnswered(job->life.now()) && !job->life.Is(Life::kSuspended) && in_time && !stop.stop_requested()) {
    in_time = lock.WaitUntil(state().ended, until, stop);
  }
  if (job->life.Is(Life::kSuspended)) return pipeline.jobs().Kept(*job);
  if (IsAnswered(job->life.now())) return pipeline.jobs().HandOut(lock, *job);
  if (stop.stop_requested()) return absl::CancelledError("the caller stopped waiting");
  return absl::DeadlineExceededError("the job has not ended yet");
}

StatusOr<JobResult> Engine::Await(uint64_t key, std::optional<TimePoint> until, std::stop_token stop) {
  StateLock lock(impl_->state(), Actor::kCaller);
  auto job = impl_->state().jobs.Find(key);
  if (job == nullptr) return absl::NotFoundError("the result is no longer kept");
  return impl_->AwaitJob(lock, std::move(job), until, stop);
}

StatusOr<JobResult> Engine::Await(const std::string& job_id, std::optional<TimePoint> until, std::stop_token stop) {
  StateLock lock(impl_->state(), Actor::kCaller);
  auto job = impl_->state().jobs.Newest(job_id);
  if (job == nullptr) return absl::NotFoundError(StrCat("no job ", job_id, " is known"));
  return impl_->AwaitJob(lock, std::move(job), until, stop);
}

void Engine::Delivered(uint64_t key, bool taken) {
  StateLock lock(impl_->state(), Actor::kCaller);
  auto job = impl_->state().jobs.Find(key);
  if (job != nullptr) impl_->pipeline.jobs().Delivered(lock, *job, taken);
}

StatusOr<bool> Engine::Cancel(const std::string& job_id) {
  EngineState& state = impl_->state();
  JobControl& jobs = impl_->pipeline.jobs();
  StateLock lock(state, Actor::kCaller);
  auto job = state.jobs.Newest(job_id);
  if (job == nullptr) return absl::NotFoundError(StrCat("no job ", job_id, " is known"));
  const bool was_unfinished = jobs.End(lock, *job, {JobState::kCancelled, "cancelled by request"});
  const TimePoint until = std::chrono::steady_clock::now() + impl_->parts.seams.store_patience;
  bool in_time = true;
  while (!HasEnded(job->life.now()) && !job->life.Is(Life::kSuspended) && in_time) {
    in_time = lock.WaitUntil(state.ended, until);
  }
  if (job->life.Is(Life::kSuspended)) return jobs.Kept(*job);
  if (HasEnded(job->life.now())) return was_unfinished;
  CUZK_RETURN_IF_ERROR(Annotate(impl_->StoreAnswers(), StrCat(job_id, " has stopped")));
  return absl::UnavailableError(StrCat(job_id, " has stopped; the job store has not recorded it yet"));
}

void Engine::Abandon(const JobTicket& ticket) {
  StateLock lock(impl_->state(), Actor::kCaller);
  auto job = impl_->state().jobs.Find(ticket.key);
  if (job == nullptr || Over(*job) || job->callers == 0) return;
  if (--job->callers > 0) return;
  impl_->pipeline.jobs().End(lock, *job, {JobState::kCancelled, "its caller disconnected"});
}

StatusOr<std::shared_ptr<Watcher>> Engine::Watch(const std::string& job_id) {
  StateLock lock(impl_->state(), Actor::kCaller);
  const JobTable& jobs = impl_->state().jobs;
  const Reports& reports = impl_->pipeline.reports();
  std::vector<JobProgress> present;
  if (job_id.empty()) {
    for (const auto& [key, job] : jobs.jobs()) {
      if (!HasEnded(job->life.now())) present.push_back(reports.ProgressOf(*job));
    }
    return impl_->events.Watch(std::nullopt, present);
  }
  auto job = jobs.Newest(job_id);
  if (job == nullptr) return absl::NotFoundError(StrCat("no job ", job_id, " is known"));
  present.push_back(reports.ProgressOf(*job));
  return impl_->events.Watch(job->key, present);
}

std::string Engine::TimelineJson() const { return impl_->timeline.ToJson(); }

std::vector<std::shared_ptr<const TimelineBar>> Engine::Timeline(TimePoint since, size_t most) const {
  return impl_->timeline.Since(since, most);
}

uint32_t Engine::Drain(TimePoint until) {
  EngineState& state = impl_->state();
  uint32_t left = 0;
  {
    StateLock lock(state, Actor::kCaller);
    state.draining = true;
    while (!impl_->pipeline.jobs().Drained() && lock.WaitUntil(state.ended, until)) {
    }
    left = impl_->pipeline.jobs().StopAll(lock, {JobState::kFailed, "the daemon stopped before the proof was done"});
  }
  state.loading.request_stop();
  // A crash after this point is not counted against any job.
  if (impl_->store == nullptr) return left;
  if (Status unmarked = impl_->store->Unmark(); !unmarked.ok()) {
    StateLock lock(state, Actor::kCaller);
    state.counters.store_errors_total++;
    impl_->pipeline.reports().Warn(
        lock, StrCat(unmarked.message(), ": the next start will count a loss for each job that is in progress now"));
  }
  return left;
}

}  // namespace cuzk::engine
