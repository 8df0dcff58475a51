// The workers of a device: while one computes, the other copies its witness in.

#include <utility>

#include "core/engine/pipeline.h"
#include "core/engine/work_mark.h"

namespace cuzk::engine {
namespace {

/// How often a device may give a partition back with an error before the job fails. Lost devices do not count.
constexpr uint32_t kDeviceAttempts = 3;

}  // namespace

std::deque<DeviceTask>::iterator Pipeline::NextTask(DeviceLine& line, unsigned worker) const {
  // The last worker is there for CRITICAL partitions alone: they never wait until another one is done with its own.
  const bool critical_only = worker + 1 == line.workers.size();
  auto better = [this](const DeviceTask& x, const DeviceTask& y) {
    bool x_overdue = x.passed >= options_.overtakes, y_overdue = y.passed >= options_.overtakes;
    if (x_overdue != y_overdue) return x_overdue;
    if (x.task.job != y.task.job) return MoreUrgent(*x.task.job, *y.task.job);
    return x.task.index < y.task.index;
  };
  auto best = line.queue.end();
  for (auto it = line.queue.begin(); it != line.queue.end(); ++it) {
    if (critical_only && it->task.job->priority != Priority::kCritical) continue;
    if (best == line.queue.end() || better(*it, *best)) best = it;
  }
  return best;
}

DeviceTask Pipeline::TakeNext(DeviceLine& line, unsigned worker) {
  auto next = NextTask(line, worker);
  for (auto it = line.queue.begin(); it != next; ++it) it->passed++;
  DeviceTask task = std::move(*next);
  line.queue.erase(next);
  return task;
}

void Pipeline::RunWorker(DeviceLine& line, unsigned worker) {
  for (;;) {
    DeviceTask task;
    {
      BoardLock lock(board_);
      line.wake.wait(lock.get(),
                     [&] { return board_.stopping || !line.lost.ok() || NextTask(line, worker) != line.queue.end(); });
      if (board_.stopping || !line.lost.ok()) return;
      task = TakeNext(line, worker);
      board_.admission.Notify();
      Job& job = *task.task.job;
      if (Over(job)) continue;
      job.partitions[task.task.index].state = PartitionState::kGpu;
      job.worker = StrCat(line.index, ".", worker);
      line.workers[worker] = WorkerState{task.task.job, task.task.index, Now(), line.workers[worker].busy};
      if (line.proving++ == 0) line.proving_since = line.workers[worker].since;
      Publish(job);
      // Under the lock, so that the bars lie in the order in which the workers took their partitions.
      Draw(task.task, "waiting", StrCat("device ", line.index, " queue"), task.task.began);
    }
    Prove(line, worker, std::move(task));
  }
}

StatusOr<groth16::MsmResults> Pipeline::RunOnDevice(DeviceLine& line, unsigned worker, DeviceTask& task) {
  const std::shared_ptr<Job>& job = task.task.job;
  prover::StartOptions options{.worker = worker, .stop = job->stop.get_token()};
  {
    BoardLock lock(board_);
    options.urgency = static_cast<unsigned>(job->priority);
  }
  options.progress = [&](uint64_t done, uint64_t total) {
    BoardLock lock(board_);
    if (Over(*job) || total == 0) return;
    job->partitions[task.task.index].device_fraction = static_cast<double>(done) / static_cast<double>(total);
    Publish(*job);
  };
  CUZK_ASSIGN_OR_RETURN(auto pending, line.device->Start(task.task.parameters, *std::move(task.witness), options));
  auto results = pending->Finish();
  const std::string track = StrCat("device ", line.index, " worker ", worker);
  for (const prover::TimelineEvent& event : pending->timeline()) {
    parts_.timeline->Add(TimelineBar{.track = track,
                                     .name = event.stage,
                                     .begin = event.begin,
                                     .end = event.end,
                                     .job_key = job->key,
                                     .job_id = job->id,
                                     .partition = task.task.index});
  }
  BoardLock lock(board_);
  for (const prover::TimelineEvent& event : pending->timeline())
    line.stage_time[event.stage] += event.end - event.begin;
  return results;
}

void Pipeline::Prove(DeviceLine& line, unsigned worker, DeviceTask task) {
  const std::shared_ptr<Job> job = task.task.job;
  // The synthesis threads have the first numbers.
  const auto workers_before = line.index * line.workers.size();
  const WorkMark mark(parts_.store, static_cast<unsigned>(synthesis_threads_ + workers_before + worker), *job);
  TimePoint begin = Now();
  auto results = RunOnDevice(line, worker, task);
  task.witness.reset();
  Duration took = Now() - begin;
  prover::MemoryInfo memory = line.device->memory();
  {
    BoardLock lock(board_);
    WorkerState& state = line.workers[worker];
    state = WorkerState{.busy = state.busy + took};
    line.memory = memory;
    line.memory_seen = Now();
    if (--line.proving == 0) line.busy += line.memory_seen - line.proving_since;
    if (results.ok() && !Over(*task.task.job)) {
      PartitionRecord& partition = task.task.job->partitions[task.task.index];
      partition.device_ms = Milliseconds(took);
      partition.device_fraction = 1;
      partition.proved_on = line.device;
      task.task.job->timings.gpu_compute_ms += Milliseconds(took);
      line.partitions_total++;
    }
  }
  if (!results.ok()) {
    DeviceError(line, std::move(task.task), results.status());
    return;
  }
  Measured(*task.task.job, Stage::kDevice, took);
  BoardLock lock(board_);
  board_.finishing.push_back(FinishTask{std::move(task.task), *std::move(results)});
  board_.finisher_wake.notify_one();
}

void Pipeline::GiveUp(BoardLock& lock, Job& job, std::string_view last) {
  if (options_.max_losses == 0 || job.losses < options_.max_losses || Over(job)) return;
  std::string text = StrCat(last, "; the job was in work ", job.losses,
                            " times when its device was lost or the daemon died, and is not tried again");
  Warn(lock, StrCat(job.id, ": ", text));
  End(lock, job, JobState::kFailed, std::move(text));
}

// Nobody can tell which of the jobs that were on the device it was: each has one loss more.
void Pipeline::DeviceLost(DeviceLine& line, const PartitionTask& task, const Status& why) {
  Job& job = *task.job;
  bool counted;
  {
    BoardLock lock(board_);
    counted = line.lost_jobs.insert(job.key).second;
    if (counted) job.losses++;
  }
  Status stored;
  if (counted && parts_.store != nullptr && job.row != 0) stored = parts_.store->CountLoss(job.row);
  BoardLock lock(board_);
  if (!stored.ok()) Warn(lock, std::string(stored.message()));
  GiveUp(lock, job, StrCat("partition ", task.index, ": device ", line.device->name(), " was lost: ", why.message()));
  LoseDevice(lock, line, why);
  ReturnPartition(job, task.index);
}

void Pipeline::DeviceError(DeviceLine& line, PartitionTask task, const Status& status) {
  Status health = line.device->health();
  task.parameters.reset();
  if (!health.ok()) {
    DeviceLost(line, task, health);
    return;
  }
  BoardLock lock(board_);
  Job& job = *task.job;
  if (Over(job)) return;  // cancelled: the device said so
  board_.counters.device_errors_total++;
  PartitionRecord& partition = job.partitions[task.index];
  std::string text = StrCat("partition ", task.index, ": device ", line.device->name(), ": ", status.message());
  Warn(lock, StrCat(job.id, ": ", text));
  if (++partition.device_errors >= kDeviceAttempts) {
    End(lock, job, JobState::kFailed, StrCat(text, " (after ", kDeviceAttempts, " attempts)"));
    return;
  }
  partition.avoid = line.device;
  ReturnPartition(job, task.index);
}

}  // namespace cuzk::engine
