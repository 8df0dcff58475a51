#include "core/engine/stages/device.h"

#include <algorithm>
#include <utility>

#include "core/engine/jobs/work_mark.h"
#include "core/engine/schedule/policy.h"
#include "core/engine/stages/finish.h"

namespace cuzk::engine {
namespace {

/// How often a device may give a partition back with an error before the job fails. Lost devices do not count.
constexpr uint32_t kDeviceAttempts = 3;

}  // namespace

DeviceStage::DeviceStage(const StageContext& context, unsigned number, prover::Device* device, FinishStage& finish)
    : c_(context),
      number_(number),
      device_(device),
      finish_(finish),
      worker_count_(std::max(1u, context.options.workers_per_device) + kReservedWorkers),
      pool_(device->host_allocator(), *context.parts.budget, context.options.pinned_bytes_per_device),
      workers_(worker_count_) {
  LookAtMemory(Actor::kCaller);
}

void DeviceStage::Start(unsigned first_mark) {
  for (unsigned w = 0; w < worker_count_; ++w) threads_.emplace_back([this, w, first_mark] { Run(w, first_mark + w); });
}

void DeviceStage::Push(StateLock& lock, DeviceTask task) {
  Job& job = *task.task.job;
  if (Over(job)) {
    lock.After([task = std::make_shared<DeviceTask>(std::move(task))] {});
    return;
  }
  if (!lost_.ok()) {
    c_.jobs.ReturnPartition(lock, job, task.task.index);
    lock.After([task = std::make_shared<DeviceTask>(std::move(task))] {});
    return;
  }
  job.partitions[task.task.index].state = PartitionState::kSynthDone;
  task.task.began = c_.Now();
  queue_.push_back(std::move(task));
  c_.state.device_work.NotifyAll();
  c_.reports.Publish(job);
}

bool DeviceStage::GoesBefore(const DeviceTask& x, const DeviceTask& y) const {
  const bool x_overdue = x.passed >= c_.options.overtakes, y_overdue = y.passed >= c_.options.overtakes;
  if (x_overdue != y_overdue) return x_overdue;
  if (x.task.job != y.task.job) return MoreUrgent(*x.task.job, *y.task.job);
  return x.task.index < y.task.index;
}

DeviceStage::Queue::iterator DeviceStage::Next(unsigned worker) {
  auto best = queue_.end();
  for (auto it = queue_.begin(); it != queue_.end(); ++it) {
    if (IsReserved(worker) && it->task.job->priority != Priority::kCritical) continue;
    if (best == queue_.end() || GoesBefore(*it, *best)) best = it;
  }
  return best;
}

DeviceTask DeviceStage::Take(Queue::iterator next) {
  for (auto it = queue_.begin(); it != next; ++it) it->passed++;
  DeviceTask task = std::move(*next);
  queue_.erase(next);
  return task;
}

void DeviceStage::Run(unsigned worker, unsigned mark) {
  for (;;) {
    DeviceTask task;
    {
      StateLock lock(c_.state, Actor::kWorker);
      Queue::iterator next;
      while (!c_.state.stopping && lost_.ok() && (next = Next(worker)) == queue_.end()) lock.Wait(c_.state.device_work);
      if (c_.state.stopping || !lost_.ok()) return;
      task = Take(next);
      c_.state.admission.Notify();
      if (Over(*task.task.job)) continue;
      Begin(worker, task);
    }
    const std::shared_ptr<Job> job = task.task.job;
    const WorkMark work_mark(c_.store, mark, *job);
    Prove(worker, std::move(task));
  }
}

void DeviceStage::Begin(unsigned worker, const DeviceTask& task) {
  Job& job = *task.task.job;
  job.partitions[task.task.index].state = PartitionState::kGpu;
  job.worker = StrCat(number_, ".", worker);
  job.spent.waiting_ms += Milliseconds(c_.Now() - task.task.began);
  workers_[worker] = Worker{task.task.job, task.task.index, c_.Now(), workers_[worker].busy};
  c_.reports.Publish(job);
  // Under the mutex, so that the bars are in the order in which the workers took their partitions.
  c_.reports.Draw(job, task.task.index, "waiting", StrCat("device ", number_, " queue"), task.task.began);
}

StatusOr<DeviceStage::Computation> DeviceStage::Compute(unsigned worker, DeviceTask& task) {
  const std::shared_ptr<Job>& job = task.task.job;
  const uint32_t index = task.task.index;
  prover::StartOptions options{.worker = worker, .stop = job->stop.get_token()};
  {
    StateLock lock(c_.state, Actor::kWorker);
    options.urgency = static_cast<unsigned>(job->priority);
  }
  options.progress = [&](uint64_t done, uint64_t total) {
    StateLock lock(c_.state, Actor::kWorker);
    if (Over(*job) || total == 0) return;
    job->partitions[index].device_fraction = static_cast<double>(done) / static_cast<double>(total);
    c_.reports.Publish(*job);
  };
  const uint64_t witness_bytes = task.witness->layout().bytes;
  CUZK_ASSIGN_OR_RETURN(auto pending, device_->Start(task.task.parameters, *std::move(task.witness), options));
  auto results = pending->Finish();
  const std::string track = StrCat("device ", number_, " worker ", worker);
  for (const prover::TimelineEvent& event : pending->timeline()) {
    c_.reports.Draw(TimelineBar{.track = track,
                                .name = event.stage,
                                .begin = event.begin,
                                .end = event.end,
                                .job_key = job->key,
                                .job_id = job->id,
                                .partition = index});
  }
  StateLock lock(c_.state, Actor::kWorker);
  for (const prover::TimelineEvent& event : pending->timeline()) stage_time_[event.stage] += event.end - event.begin;
  const prover::DeviceTimes times = prover::TimesOf(pending->timeline());
  kernels_ += times.kernels;
  if (times.copy_to_device > Duration{}) copied_to_device_ += witness_bytes;
  if (!results.ok()) return results.status();
  return Computation{*std::move(results), times};
}

void DeviceStage::Computed(unsigned worker, const PartitionTask& task, Duration took, std::optional<Duration> kernels) {
  StateLock lock(c_.state, Actor::kWorker);
  workers_[worker] = Worker{.busy = workers_[worker].busy + took};
  Job& job = *task.job;
  if (!kernels || Over(job)) return;
  PartitionRecord& partition = job.partitions[task.index];
  partition.device_ms = Milliseconds(*kernels);
  partition.device_fraction = 1;
  partition.proved_on = device_;
  job.timings.gpu_compute_ms += Milliseconds(*kernels);
  partitions_total_++;
}

void DeviceStage::Prove(unsigned worker, DeviceTask task) {
  const TimePoint begin = c_.Now();
  auto computed = Compute(worker, task);
  task.witness.reset();
  const Duration took = c_.Now() - begin;
  LookAtMemory(Actor::kWorker);
  Computed(worker, task.task, took, computed.ok() ? std::optional(computed->times.kernels) : std::nullopt);
  if (!computed.ok()) {
    Failed(std::move(task.task), computed.status());
    return;
  }
  c_.reports.Measured(*task.task.job, Stage::kDevice, took, Actor::kWorker);
  StateLock lock(c_.state, Actor::kWorker);
  finish_.Push(FinishTask{std::move(task.task), std::move(computed->results)});
}

void DeviceStage::Failed(PartitionTask task, const Status& status) {
  const Status health = device_->health();
  task.parameters.reset();
  if (!health.ok()) {
    LostDuring(task, health);
    return;
  }
  StateLock lock(c_.state, Actor::kWorker);
  Job& job = *task.job;
  if (Over(job)) return;  // cancelled: the device said so
  c_.state.counters.device_errors_total++;
  PartitionRecord& partition = job.partitions[task.index];
  std::string text = StrCat("partition ", task.index, ": device ", device_->name(), ": ", status.message());
  c_.reports.Warn(lock, StrCat(job.id, ": ", text));
  if (++partition.device_errors >= kDeviceAttempts) {
    c_.jobs.Fail(lock, job, StrCat(text, " (after ", kDeviceAttempts, " attempts)"));
    return;
  }
  partition.avoid = device_;
  c_.jobs.ReturnPartition(lock, job, task.index);
}

// It cannot be told which of the jobs on the device was to blame: each has one loss more.
void DeviceStage::LostDuring(const PartitionTask& task, const Status& why) {
  Job& job = *task.job;
  bool counted = false;
  {
    StateLock lock(c_.state, Actor::kWorker);
    counted = jobs_at_loss_.insert(job.key).second;
    if (counted) job.losses++;
  }
  Status stored;
  if (counted && c_.store != nullptr && job.row != 0) stored = c_.store->CountLoss(job.row);
  StateLock lock(c_.state, Actor::kWorker);
  if (!stored.ok()) c_.reports.Warn(lock, std::string(stored.message()));
  c_.jobs.GiveUp(lock, job,
                 StrCat("partition ", task.index, ": device ", device_->name(), " was lost: ", why.message()));
  Lose(lock, why);
  c_.jobs.ReturnPartition(lock, job, task.index);
}

void DeviceStage::Lose(StateLock& lock, const Status& why) {
  if (!lost_.ok()) return;
  lost_ = why;
  c_.state.usable_devices--;
  c_.state.counters.devices_lost_total++;
  c_.reports.Warn(lock, StrCat("device ", device_->name(), " is lost: ", why.message()));
  auto orphans = std::make_shared<Queue>(std::move(queue_));
  queue_.clear();
  c_.state.device_work.NotifyAll();
  c_.state.loads_wanted.NotifyAll();
  auto freed = std::make_shared<std::vector<LoadedParameters>>(c_.circuits.LoseDevice(number_));
  for (const DeviceTask& orphan : *orphans) c_.jobs.ReturnPartition(lock, *orphan.task.job, orphan.task.index);
  if (c_.state.usable_devices == 0) {
    c_.state.refusing = StrCat("no device is left: ", why.message());
    c_.jobs.StopAll(lock, {JobState::kFailed, c_.state.refusing});
  }
  c_.jobs.RefreshAll(lock);
  lock.After([orphans, freed, &parameters = c_.parameters, device = device_]() mutable {
    orphans.reset();
    freed.reset();
    parameters.Forget(*device);
  });
}

void DeviceStage::LookAtMemory(Actor actor) {
  const prover::MemoryInfo memory = device_->memory();
  StateLock lock(c_.state, actor);
  memory_ = memory;
  memory_seen_ = c_.Now();
}

DeviceStatus DeviceStage::Describe(TimePoint now) const {
  DeviceStatus out{.name = std::string(device_->name()), .ordinal = device_->ordinal(), .memory = memory_};
  out.lost = std::string(lost_.message());
  out.queued = static_cast<uint32_t>(queue_.size());
  out.partitions_total = partitions_total_;
  out.identity = device_->identity();
  out.memory_seconds_ago = Seconds(now - memory_seen_);
  out.busy_seconds_total = Seconds(kernels_);
  out.copied_to_device_bytes_total = copied_to_device_;
  for (const auto& [stage, time] : stage_time_) out.stage_seconds.emplace(stage, Seconds(time));
  for (unsigned w = 0; w < workers_.size(); ++w) {
    const Worker& state = workers_[w];
    WorkerStatus worker{.worker = w, .busy_seconds_total = Seconds(state.busy)};
    worker.critical_only = IsReserved(w);
    if (state.job != nullptr) {
      worker.job_key = state.job->key;
      worker.job_id = state.job->id;
      worker.kind = state.job->facts.kind;
      worker.partition = state.partition;
      worker.busy_seconds = Seconds(now - state.since);
    }
    out.workers.push_back(std::move(worker));
  }
  return out;
}

}  // namespace cuzk::engine
