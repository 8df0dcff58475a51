#include "core/engine/stages/device.h"

#include <algorithm>
#include <utility>

#include "core/base/thread.h"
#include "core/engine/jobs/work_mark.h"
#include "core/engine/schedule/policy.h"
#include "core/engine/stages/finish.h"
#include "core/engine/stages/quarantine.h"

namespace cuzk::engine {
namespace {

/// How often a device may give a partition back with an error before the job fails. Lost devices do not count.
constexpr uint32_t kDeviceAttempts = 3;

/// Of a device's work, what it may do before the compute region lets the partition in. A device that does nothing
/// before tells 0 when it is in.
constexpr double kCopying = 0.1;

/// Whether the worker takes CRITICAL partitions alone, which so never wait until others are done with theirs.
bool IsReserved(unsigned worker, unsigned workers) { return worker + kReservedWorkers >= workers; }

}  // namespace

std::string LabelOf(const DeviceStage& device) {
  const std::string uuid = device.device().identity().uuid;
  return StrCat(device.number(), " (", device.device().name(), uuid.empty() ? "" : ", ", uuid, ")");
}

DeviceStage::DeviceStage(const StageContext& context, unsigned number, prover::Device* device, FinishStage& finish)
    : c_(context),
      number_(number),
      device_(device),
      finish_(finish),
      worker_count_(std::max(1u, context.options.workers_per_device) + kReservedWorkers),
      pool_(device->host_allocator(), *context.parts.budget, context.options.pinned_bytes_per_device),
      queue_(context.options.overtakes),
      meter_(context.Now()),
      workers_(worker_count_) {
  service_.since = context.Now();
  LookAtMemory(Actor::kCaller);
}

Status DeviceStage::Start(unsigned first_mark) {
  for (unsigned w = 0; w < worker_count_; ++w) {
    CUZK_ASSIGN_OR_RETURN(std::jthread thread,
                          StartThread("a device", [this, w, first_mark] { Run(w, first_mark + w); }));
    threads_.push_back(std::move(thread));
  }
  return absl::OkStatus();
}

void DeviceStage::Push(StateLock& lock, DeviceTask task) {
  Job& job = *task.task.job;
  if (Over(job)) {
    lock.After([task = std::make_shared<DeviceTask>(std::move(task))] {});
    return;
  }
  if (!service_.works()) {
    c_.jobs.ReturnPartition(lock, job, task.task.index);
    lock.After([task = std::make_shared<DeviceTask>(std::move(task))] {});
    return;
  }
  job.partitions[task.task.index].state = PartitionState::kSynthDone;
  task.task.began = c_.Now();
  queue_.Add(std::move(task));
  c_.state.device_work.NotifyAll();
  c_.reports.Publish(job);
}

void DeviceStage::Run(unsigned worker, unsigned mark) {
  for (;;) {
    std::optional<DeviceTask> task;
    {
      StateLock lock(c_.state, Actor::kWorker);
      while (!c_.state.stopping && service_.now != DeviceService::kLost &&
             !(task = queue_.Take(IsReserved(worker, worker_count_)))) {
        lock.Wait(c_.state.device_work);
      }
      if (!task) return;
      c_.state.admission.Notify();
      if (Over(*task->task.job)) continue;
      Begin(worker, *task);
    }
    const std::shared_ptr<Job> job = task->task.job;
    const WorkMark work_mark(c_.store, mark, *job);
    Prove(worker, *std::move(task));
  }
}

void DeviceStage::Begin(unsigned worker, const DeviceTask& task) {
  Job& job = *task.task.job;
  job.partitions[task.task.index].state = PartitionState::kGpu;
  job.partitions[task.task.index].computing = false;
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
  std::stop_source stop;  // with the job's end, or when the partition is taken back
  prover::StartOptions options{.worker = worker};
  {
    StateLock lock(c_.state, Actor::kWorker);
    options.urgency = static_cast<unsigned>(job->priority);
    stop = workers_[worker].stop;
  }
  options.stop = stop.get_token();
  const std::stop_callback with_job(job->stop.get_token(), [&stop] { stop.request_stop(); });
  options.progress = [&](uint64_t done, uint64_t total) {
    StateLock lock(c_.state, Actor::kWorker);
    if (Over(*job) || workers_[worker].taken_back || total == 0) return;
    PartitionRecord& partition = job->partitions[index];
    partition.device_fraction = static_cast<double>(done) / static_cast<double>(total);
    if (done == 0 || partition.device_fraction > kCopying) partition.computing = true;
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
  const prover::DeviceTimes times = meter_.Ended(pending->timeline(), witness_bytes);
  if (!results.ok()) return results.status();
  return Computation{*std::move(results), times};
}

bool DeviceStage::Computed(unsigned worker, const PartitionTask& task, Duration took,
                           std::optional<prover::DeviceTimes> times) {
  StateLock lock(c_.state, Actor::kWorker);
  const bool taken_back = workers_[worker].taken_back;
  if (workers_[worker].given_up) c_.state.partitions_given_up.CameBack();
  workers_[worker] = Worker{.busy = workers_[worker].busy + took};
  if (taken_back) return false;
  Job& job = *task.job;
  if (!times || Over(job)) return true;
  PartitionRecord& partition = job.partitions[task.index];
  partition.device_ms = Milliseconds(times->kernels);
  partition.device_fraction = 1;
  partition.proved_on = device_;
  job.timings.gpu_compute_ms += Milliseconds(times->kernels);
  job.spent.waiting_ms += Milliseconds(times->compute_wait);
  // Others compute while this one is copied, unless all workers do the same.
  const Duration alone = (took - times->compute_wait) / std::max(1u, c_.options.workers_per_device);
  const Duration kept = std::max(times->kernels, alone);
  meter_.Proved(job.circuit, kept);
  c_.state.estimator.Measured(job.circuit, Stage::kDevice, Seconds(kept));
  c_.quarantine.Proved(*this);
  return true;
}

void DeviceStage::Prove(unsigned worker, DeviceTask task) {
  const TimePoint begin = c_.Now();
  auto computed = Compute(worker, task);
  task.witness.reset();
  const Duration took = c_.Now() - begin;
  LookAtMemory(Actor::kWorker);
  const auto times = computed.ok() ? std::optional(computed->times) : std::nullopt;
  if (!Computed(worker, task.task, took, times)) {
    const Status health = device_->health();
    StateLock lock(c_.state, Actor::kWorker);
    if (!health.ok()) Lose(lock, health);
    return;
  }
  if (!computed.ok()) {
    Failed(std::move(task.task), computed.status());
    return;
  }
  c_.reports.MeasuredDevice(*task.task.job, took);
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
  } else {
    partition.avoid = device_;
    c_.jobs.ReturnPartition(lock, job, task.index);
  }
  c_.quarantine.GaveError(lock, *this, std::string(status.message()));
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
  if (!stored.ok()) {
    c_.state.counters.store_errors_total++;
    c_.reports.Warn(lock, std::string(stored.message()));
  }
  c_.jobs.GiveUp(lock, job,
                 StrCat("partition ", task.index, ": device ", device_->name(), " was lost: ", why.message()));
  Lose(lock, why);
  c_.jobs.ReturnPartition(lock, job, task.index);
}

void DeviceStage::Withdraw(StateLock& lock, DeviceService as, std::string why) {
  if (service_.works()) c_.state.usable_devices--;
  service_ = {as, std::move(why), c_.Now()};
  for (Worker& worker : workers_) {
    if (worker.job == nullptr || std::exchange(worker.given_up, true)) continue;
    c_.state.partitions_given_up.Add(1, c_.Now());
  }
  auto orphans = std::make_shared<std::deque<DeviceTask>>(queue_.TakeAll());
  auto freed = std::make_shared<std::vector<LoadedParameters>>(c_.circuits.LoseDevice(number_));
  for (const DeviceTask& orphan : *orphans) c_.jobs.ReturnPartition(lock, *orphan.task.job, orphan.task.index);
  c_.state.device_work.NotifyAll();
  c_.state.loads_wanted.NotifyAll();
  lock.After([orphans, freed]() mutable {
    orphans.reset();
    freed.reset();
  });
}

void DeviceStage::Lose(StateLock& lock, const Status& why) {
  if (service_.now == DeviceService::kLost) return;
  c_.state.counters.devices_lost_total++;
  c_.reports.Warn(lock, StrCat("device ", device_->name(), " is lost: ", why.message()));
  Withdraw(lock, DeviceService::kLost, std::string(why.message()));
  if (c_.state.usable_devices == 0) {
    c_.state.refusing = StrCat("no device is left: ", why.message());
    c_.jobs.StopAll(lock, {JobState::kFailed, c_.state.refusing});
  }
  c_.jobs.RefreshAll(lock);
  lock.After([&parameters = c_.parameters, device = device_] { parameters.Forget(*device); });
}

void DeviceStage::TakeOut(StateLock& lock, DeviceService as, std::string why) {
  Withdraw(lock, as, std::move(why));
  for (Worker& worker : workers_) {
    if (worker.job == nullptr || worker.taken_back) continue;
    worker.taken_back = true;
    worker.stop.request_stop();
    c_.jobs.ReturnPartition(lock, *worker.job, worker.partition);
  }
  c_.jobs.RefreshAll(lock);
}

void DeviceStage::BringBack(StateLock& lock) {
  service_ = {DeviceService::kWorks, "", c_.Now()};
  c_.state.usable_devices++;
  c_.circuits.ReturnDevice(number_);
  c_.jobs.RefreshAll(lock);
  c_.state.loads_wanted.NotifyAll();
  c_.state.admission.Notify();
}

void DeviceStage::SetService(DeviceService service, std::string why) { service_ = {service, std::move(why), c_.Now()}; }

size_t DeviceStage::in_hand() const {
  return static_cast<size_t>(
      std::count_if(workers_.begin(), workers_.end(), [](const Worker& worker) { return worker.job != nullptr; }));
}

void DeviceStage::LookAtMemory(Actor actor) {
  const prover::MemoryInfo memory = device_->memory();
  StateLock lock(c_.state, actor);
  meter_.SawMemory(memory, c_.Now());
}

DeviceStatus DeviceStage::Describe(TimePoint now) const {
  DeviceStatus out{.name = std::string(device_->name()), .ordinal = device_->ordinal()};
  if (service_.now == DeviceService::kLost) out.lost = service_.why;
  out.service = service_.now;
  out.service_reason = service_.why;
  out.service_seconds_ago = Seconds(now - service_.since);
  if (number_ < c_.parts.device_kinds.size()) out.kinds = c_.parts.device_kinds[number_];
  out.queued = static_cast<uint32_t>(queue_.size());
  out.identity = device_->identity();
  meter_.Describe(now, out);
  c_.quarantine.Describe(*this, out);
  for (unsigned w = 0; w < workers_.size(); ++w) {
    const Worker& state = workers_[w];
    WorkerStatus worker{.worker = w, .busy_seconds_total = Seconds(state.busy)};
    worker.critical_only = IsReserved(w, worker_count_);
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
