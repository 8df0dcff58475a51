#include "core/engine/stages/job_control.h"

#include <algorithm>
#include <utility>

#include "core/engine/schedule/policy.h"
#include "core/engine/stages/record.h"

namespace cuzk::engine {

namespace {

/// The stage in which a job failed: that of the thread that found the fault, whatever its other partitions did.
Stage FailedIn(const Job& job, Actor by) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) {
  switch (by) {
    case Actor::kSynthesis:
      return job.life.Is(Life::kParsing) ? Stage::kParsing : Stage::kSynthesis;
    case Actor::kLoader:
      return Stage::kLoadingParameters;
    case Actor::kWorker:
      return Stage::kDevice;
    case Actor::kFinisher:
      return Stage::kVerifying;
    case Actor::kCaller:
    case Actor::kScheduler:
    case Actor::kRecorder:
      break;
  }
  return job.last_stage;
}

}  // namespace

std::optional<TimePoint> JobControl::WithinLimit(std::optional<TimePoint> deadline, TimePoint submitted) const {
  if (p_.state.max_job_time.count() == 0) return deadline;
  const TimePoint latest = submitted + p_.state.max_job_time;
  return deadline ? std::min(*deadline, latest) : latest;
}

void JobControl::Enter(Job& job) {
  p_.state.scheduler.Add(job.key, job.priority, job.deadline);
  p_.state.scheduler.SetReady(job.key, 1);
  p_.state.admission.Notify();
  p_.reports.Publish(job);
}

void JobControl::Join(Job& job, Priority priority, std::optional<TimePoint> deadline) {
  job.callers++;
  p_.state.counters.joined_total++;
  if (Over(job)) return;
  priority = std::max(priority, job.priority);
  deadline = deadline && job.deadline ? std::max(deadline, job.deadline) : std::nullopt;
  // How long a job may take counts from its own submission.
  if (deadline) deadline = WithinLimit(deadline, job.submitted);
  if (priority == job.priority && deadline == job.deadline) return;
  job.priority = priority;
  job.deadline = deadline;
  p_.state.scheduler.Change(job.key, priority, deadline);
  p_.state.admission.Notify();
  p_.state.device_work.NotifyAll();
  if (p_.records == nullptr || job.row == 0) return;
  p_.records->Push({.what = RecordTask::What::kPriority, .row = job.row, .priority = priority});
}

void JobControl::Parsed(StateLock& lock, Job& job, std::shared_ptr<const ParsedJob> parsed) {
  job.partitions_total = static_cast<uint32_t>(parsed->request.partitions.size());
  job.partitions.resize(job.partitions_total);
  job.circuit = parsed->circuit().id;
  job.parsed = std::move(parsed);
  job.life.Take(Life::kProving, lock.actor());
  // What failed for earlier jobs is tried again for this one.
  for (LoadedParameters& device : p_.circuits.Of(job.parsed->circuit()).devices) device.failed = absl::OkStatus();
  Refresh(lock, job);
  p_.state.admission.Notify();
  p_.reports.Publish(job);
}

void JobControl::Refresh(const StateLock& lock, Job& job) {
  uint32_t ready = 0;
  switch (job.life.now()) {
    case Life::kWaiting:
    case Life::kSetAside:
      ready = 1;
      break;
    case Life::kProving:
    case Life::kLoading: {
      const uint32_t pending = PendingPartitions(job);
      const bool was_loading = job.life.Is(Life::kLoading);
      const bool loading = pending > 0 && !p_.circuits.Live(job.parsed->circuit());
      if (loading && !was_loading) job.load_began = p_.clock.Now();
      if (!loading && was_loading) job.timings.srs_load_ms += Milliseconds(p_.clock.Now() - *job.load_began);
      if (loading != was_loading) job.life.Take(loading ? Life::kLoading : Life::kProving, lock.actor());
      if (pending > 0) p_.state.loads_wanted.NotifyAll();
      if (!loading) ready = pending;
      break;
    }
    case Life::kParsing:
      break;
    default:
      return;  // it is over
  }
  p_.state.scheduler.SetReady(job.key, ready);
}

void JobControl::RefreshAll(const StateLock& lock) {
  for (const auto& [key, job] : p_.state.jobs.jobs()) Refresh(lock, *job);
}

void JobControl::ReturnPartition(const StateLock& lock, Job& job, uint32_t index) {
  if (Over(job)) return;
  PartitionRecord& partition = job.partitions[index];
  partition.state = PartitionState::kPending;
  partition.device_fraction = 0;
  partition.proof.reset();
  p_.state.counters.retries_total++;
  Refresh(lock, job);
  p_.state.admission.Notify();
  p_.reports.Publish(job);
}

void JobControl::StopWork(StateLock& lock, Job& job) {
  job.last_stage = p_.reports.ProgressOf(job).stage;
  // Freed when the mutex has been released: these may be large.
  struct Remains {
    Passage passage;
    filecoin::VanillaRequest vanilla;
    std::shared_ptr<const ParsedJob> parsed;
  };
  auto remains = std::make_shared<Remains>(
      Remains{Passage(p_.state, p_.state.in_flight), std::move(job.vanilla), std::move(job.parsed)});
  lock.After([remains]() mutable { remains.reset(); });
  job.memory.Release();
  if (job.life.Is(Life::kLoading) && job.load_began) {
    job.timings.srs_load_ms += Milliseconds(p_.clock.Now() - *job.load_began);
  }
  if (job.life.Is(Life::kLoading)) p_.circuits.StopUnwantedLoads(job);
  job.stop.request_stop();
  p_.state.scheduler.Remove(job.key);
  p_.state.admission.Notify();
}

bool JobControl::End(StateLock& lock, Job& job, Outcome outcome) {
  if (Over(job)) return false;
  StopWork(lock, job);
  if (outcome.state == JobState::kFailed) job.last_stage = FailedIn(job, lock.actor());
  if (p_.records == nullptr || job.row == 0) {
    Conclude(lock, job, std::move(outcome));
  } else {
    job.life.Take(Life::kRecording, lock.actor());
    RecordTask task{.what = RecordTask::What::kEnd, .row = job.row, .job = p_.state.jobs.Find(job.key)};
    task.finished_ms = p_.clock.WallMs();
    if (outcome.state == JobState::kCompleted) {
      task.timings = job.timings;
      task.timings.total_ms = Milliseconds(p_.clock.Now() - job.submitted);
    }
    task.outcome = outcome;
    job.recording = std::move(outcome);
    job.recording_since = p_.clock.Now();
    p_.records->Push(std::move(task));
  }
  return true;
}

void JobControl::ConcludeUrgent(StateLock& lock) {
  std::vector<std::shared_ptr<Job>> late;
  for (const auto& [key, job] : p_.state.jobs.jobs()) {
    if (!job->life.Is(Life::kRecording) || !HasReserve(job->facts.kind)) continue;
    if (p_.clock.Now() - *job->recording_since >= kUrgentPatience) late.push_back(job);
  }
  for (const auto& job : late) {
    p_.reports.Warn(lock, StrCat(job->id, ": the job store has not recorded the result yet; the callers get it now"));
    Conclude(lock, *job, std::move(job->recording));
  }
}

void JobControl::Conclude(StateLock& lock, Job& job, Outcome outcome) {
  const auto ended = p_.state.jobs.Find(job.key);  // it may be forgotten at once
  const JobState state = outcome.state;
  Remember(job, outcome);
  const bool report = p_.observer != nullptr;
  p_.state.jobs.Finish(job, std::move(outcome), p_.clock.Now(), report ? Life::kReporting : Life::kEnded, lock.actor());
  KindStatus& kind = p_.state.kinds[job.facts.kind];
  if (state == JobState::kCompleted) kind.completed_total++;
  if (state == JobState::kCancelled) kind.cancelled_total++;
  if (state == JobState::kFailed) {
    kind.failed_total++;
    p_.reports.Note(StrCat(job.id, ": ", job.error));
  }
  p_.reports.Publish(job);
  p_.state.ended.NotifyAll();
  if (report) lock.After([this, ended, result = ResultOf(job), by = lock.actor()] { Report(*ended, result, by); });
}

void JobControl::Remember(const Job& job, const Outcome& outcome) {
  store::EndedJob ended = FactsOf(job, p_.clock.Now(), p_.clock.WallMs());
  ended.finished_ms = p_.clock.WallMs();
  ended.state = RowStateOf(outcome.state);
  if (outcome.state != JobState::kCompleted) ended.error = outcome.text;
  p_.state.history.Add(std::move(ended));
  p_.state.record_work.NotifyAll();
}

void JobControl::Report(Job& job, const JobResult& result, Actor actor) {
  double seconds = 0;
  {
    StateLock lock(p_.state, actor);
    seconds = Seconds(*job.finished - job.submitted);
  }
  p_.observer->OnJob(result, seconds);
  StateLock lock(p_.state, actor);
  job.life.Take(Life::kEnded, actor);
  p_.state.ended.NotifyAll();
}

void JobControl::GiveUp(StateLock& lock, Job& job, std::string_view last) {
  if (p_.options.max_losses == 0 || job.losses < p_.options.max_losses || Over(job)) return;
  std::string text = StrCat(last, "; the job was interrupted ", job.losses,
                            " times because its device was lost or the daemon crashed, so it is not tried again");
  p_.reports.Warn(lock, StrCat(job.id, ": ", text));
  Fail(lock, job, std::move(text));
}

uint32_t JobControl::StopAll(StateLock& lock, const Outcome& outcome) {
  std::vector<std::shared_ptr<Job>> unfinished;
  for (const auto& [key, job] : p_.state.jobs.jobs()) {
    if (!Over(*job)) unfinished.push_back(job);
  }
  for (const auto& job : unfinished) {
    if (p_.records != nullptr && job->row != 0) {
      StopWork(lock, *job);
      job->life.Take(Life::kSuspended, lock.actor());
    } else {
      End(lock, *job, outcome);
    }
  }
  p_.state.ended.NotifyAll();
  return static_cast<uint32_t>(unfinished.size());
}

bool JobControl::Drained() const {
  for (const auto& [key, job] : p_.state.jobs.jobs()) {
    if (!HasEnded(job->life.now()) && !job->life.Is(Life::kSuspended)) return false;
  }
  return true;
}

Status JobControl::Kept(const Job& job) const {
  return absl::UnavailableError(StrCat(p_.state.refusing.empty() ? "the daemon stopped" : p_.state.refusing, "; job ",
                                       job.id, " is kept and continues at the next start"));
}

JobResult JobControl::HandOut(const StateLock& lock, Job& job) {
  if (job.life.Is(Life::kEnded)) {
    job.life.Take(Life::kDelivering, lock.actor());
    job.deliveries = 0;
  }
  if (job.life.Is(Life::kDelivering)) job.deliveries++;
  return ResultOf(job);
}

void JobControl::Delivered(const StateLock& lock, Job& job, bool taken) {
  if (taken) {
    if (p_.state.jobs.Fetched(job) && job.row != 0) {
      p_.records->Push({.what = RecordTask::What::kFetched, .row = job.row});
    }
    return;
  }
  if (job.life.Is(Life::kDelivering) && --job.deliveries == 0) job.life.Take(Life::kEnded, lock.actor());
}

void JobControl::Prune() {
  p_.state.jobs.Prune(p_.clock.Now());
  for (int64_t row : p_.state.jobs.TakeForgottenRows()) Forget(row);
}

void JobControl::Forget(int64_t row) {
  if (row != 0) p_.records->Push({.what = RecordTask::What::kForget, .row = row});
}

}  // namespace cuzk::engine
