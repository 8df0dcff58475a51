// The scheduler's loop: who goes next is the Scheduler's to say; here its turn gets memory and a device.

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "core/engine/wanted.h"

namespace cuzk::engine {

void Pipeline::RunAdmission() {
  for (;;) {
    TimePoint until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    {
      BoardLock lock(board_);
      if (board_.stopping) break;
      if (auto deadline = board_.scheduler.NextDeadline()) until = std::min(until, *deadline);
    }
    board_.admission.Wait(until);
    Tick();
    do {
      while (Turn()) {
      }
      // What is held for a lease is held while its job is next and waits for it, no longer.
      if (!lease_missing_) held_.Release();
    } while (Relieve());
  }
  held_.Release();
}

void Pipeline::Tick() {
  BoardLock lock(board_);
  board_.counters.scheduler_turns_total++;
  TimePoint now = Now();
  for (uint64_t key : board_.scheduler.Expired(now)) {
    auto job = board_.jobs.Find(key);
    End(lock, *job, JobState::kFailed,
        StrCat("the deadline passed while the job was at stage ", StageName(ProgressOf(*job).stage)));
  }
  board_.jobs.Prune(now);
  for (int64_t row : board_.jobs.TakeForgottenRows()) Forget(row);
  // Parameters may have been evicted since; those that nobody waits for any more can be.
  std::set<std::string> waited_for;
  for (const auto& [key, job] : board_.jobs.jobs()) {
    if (!job->parsed) continue;
    waited_for.insert(job->circuit);
    Refresh(*job);
  }
  for (auto& [id, desk] : board_.circuits) {
    if (waited_for.contains(id)) continue;
    for (LoadedParameters& line : desk.lines) {
      if (line.fresh) lock.After([fresh = std::move(line.fresh)]() mutable { fresh.reset(); });
    }
  }
}

DeviceLine* Pipeline::ChooseLine(const Job& job, uint32_t index) const {
  const CircuitDesk& desk = board_.circuits.at(job.parsed->circuit().id);
  // CRITICAL does not wait behind a full queue of others.
  unsigned room = options_.device_queue + (job.priority == Priority::kCritical ? 1 : 0);
  DeviceLine* best = nullptr;
  DeviceLine* avoided = nullptr;
  bool another = false;  // than the avoided one, now or later
  for (const auto& line : board_.lines) {
    const LoadedParameters& parameters = desk.lines[line->index];
    if (!line->lost.ok()) continue;
    bool avoid = job.partitions[index].avoid == line->device;
    another = another || (!avoid && parameters.failed.ok());
    size_t load = line->queue.size() + line->underway;
    if (load >= room || parameters.Lock() == nullptr) continue;
    if (avoid) {
      avoided = line.get();
    } else if (best == nullptr || load < best->queue.size() + best->underway) {
      best = line.get();
    }
  }
  return best != nullptr || another ? best : avoided;
}

bool Pipeline::MayGo(uint64_t key) const {
  auto job = board_.jobs.Find(key);
  if (!job->started) return !job->set_aside || board_.loads == 0;
  if (!job->parsed) return false;
  for (uint32_t i = 0; i < job->partitions.size(); ++i) {
    if (job->partitions[i].state == PartitionState::kPending) return ChooseLine(*job, i) != nullptr;
  }
  return false;
}

bool Pipeline::Pick(Wanted* wanted) {
  lease_missing_ = false;
  BoardLock lock(board_);
  if (board_.stopping || board_.synthesis_idle <= board_.synthesis.size()) return false;
  auto key = board_.scheduler.Next([this](uint64_t k) { return MayGo(k); });
  if (!key) return false;
  PartitionTask& task = wanted->task.task;
  task.job = board_.jobs.Find(*key);
  wanted->seen = budget_.ChangeCount();
  wanted->in_flight = board_.in_flight > 0;
  if (!task.job->started) {
    wanted->parse = true;
    uint64_t stored = task.job->stored_bytes;
    if (stored > 0) wanted->request_bytes = stored + parts_.work->ParsedBytes(stored);
    return true;
  }
  Job& job = *task.job;
  auto first = std::find_if(job.partitions.begin(), job.partitions.end(),
                            [](const auto& partition) { return partition.state == PartitionState::kPending; });
  task.index = static_cast<uint32_t>(first - job.partitions.begin());
  task.parsed = job.parsed;
  task.line = ChooseLine(job, task.index);
  const CircuitDesk& desk = board_.circuits.at(job.circuit);
  task.parameters = desk.lines[task.line->index].Lock();
  if (task.parameters == nullptr) return false;  // evicted this moment: looked at again on the next turn
  wanted->lease_bytes = desk.lease_bytes;
  wanted->host_bytes = task.parameters->plan().partition_host_bytes;
  return true;
}

Status Pipeline::Provide(Wanted& wanted) {
  if (wanted.parse) {
    if (wanted.request_bytes == 0) return absl::OkStatus();
    CUZK_ASSIGN_OR_RETURN(wanted.request_memory,
                          budget_.TryReserve(memory::MemoryClass::kRequests, wanted.request_bytes, request_limit_));
    return absl::OkStatus();
  }
  // What was got of two is kept for the next attempt: giving it back would wake this loop at once.
  if (held_.bytes() != wanted.host_bytes) {
    held_.Release();
    CUZK_ASSIGN_OR_RETURN(held_, budget_.TryReserve(memory::MemoryClass::kWitnesses, wanted.host_bytes));
  }
  lease_missing_ = true;
  CUZK_ASSIGN_OR_RETURN(wanted.task.lease, wanted.task.task.line->pool.TryAcquire(wanted.lease_bytes));
  lease_missing_ = false;
  wanted.task.task.host_memory = std::move(held_);
  return absl::OkStatus();
}

bool Pipeline::Turn() {
  Wanted wanted;
  if (!Pick(&wanted)) return false;
  Status provided = Provide(wanted);
  if (!provided.ok()) return Refused(wanted, provided);
  return Dispatch(std::move(wanted));
}

bool Pipeline::Dispatch(Wanted wanted) {
  PartitionTask& task = wanted.task.task;
  BoardLock lock(board_);
  Job& job = *task.job;
  if (Over(job) || board_.stopping) return true;  // the task gives everything back, after the lock
  TimePoint now = Now();
  if (wanted.parse) {
    job.started = now;
    job.set_aside = false;
    job.state = JobState::kRunning;
    if (wanted.request_memory.bytes() > 0) job.memory = std::move(wanted.request_memory);
    job.timings.queue_wait_ms = Milliseconds(now - job.submitted);
  } else {
    if (!task.line->lost.ok()) return true;
    job.partitions[task.index].state = PartitionState::kSynthesizing;
    task.line->underway++;
    LoadedParameters& loaded = board_.circuits.at(job.circuit).lines[task.line->index];
    loaded.loaded = task.parameters;
    loaded.fresh.reset();
  }
  board_.scheduler.Served(job.key);
  task.passage = Passage(board_.in_flight, board_.admission);
  task.began = now;
  board_.synthesis.push_back(std::move(wanted.task));
  board_.synthesis_wake.notify_one();
  Publish(job);
  return true;
}

}  // namespace cuzk::engine
