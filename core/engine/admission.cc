#include "core/engine/admission.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/thread.h"
#include "core/engine/jobs/progress.h"
#include "core/engine/schedule/choice.h"
#include "core/engine/schedule/policy.h"

namespace cuzk::engine {

Status Admission::Start() {
  budget_listener_ = budget_.AddListener([&state = c_.state] { state.admission.Notify(); });
  CUZK_ASSIGN_OR_RETURN(thread_, StartThread("the scheduler", [this] { Run(); }));
  return absl::OkStatus();
}

void Admission::Run() {
  for (;;) {
    TimePoint until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    {
      StateLock lock(c_.state, Actor::kScheduler);
      if (c_.state.stopping) break;
      if (auto deadline = c_.state.scheduler.NextDeadline()) until = std::min(until, *deadline);
    }
    c_.state.admission.Wait(until);
    Tick();
    do {
      while (Serve()) {
      }
      // What is held for a lease is held while its job is next and waits for it, no longer.
      if (!lease_missing_) held_.Release();
    } while (Relieve());
  }
  held_.Release();
}

void Admission::Tick() {
  StateLock lock(c_.state, Actor::kScheduler);
  c_.state.counters.scheduler_turns_total++;
  for (uint64_t key : c_.state.scheduler.Expired(c_.Now())) {
    auto job = c_.state.jobs.Find(key);
    c_.jobs.Fail(lock, *job, StrCat("the deadline passed while the job was at stage ", StageName(StageOf(*job))));
  }
  c_.jobs.ConcludeUrgent(lock);
  c_.jobs.Prune();
  // Parameters may have been evicted since; those that no job waits for any more can be.
  c_.jobs.RefreshAll(lock);
  std::set<std::string> wanted;
  for (const auto& [key, job] : c_.state.jobs.jobs()) {
    if (job->parsed) wanted.insert(job->circuit);
  }
  lock.After([unwanted = c_.circuits.TakeUnwanted(wanted)]() mutable { unwanted.clear(); });
}

DeviceStage* Admission::ChooseDevice(const Job& job, uint32_t index) {
  const CircuitRecord& record = c_.circuits.Known(job.circuit);
  // CRITICAL does not wait behind a full queue of others.
  const unsigned room = c_.options.device_queue + (job.priority == Priority::kCritical ? kReservedPlaces : 0);
  std::vector<Candidate> candidates;
  std::vector<DeviceStage*> stages;
  DeviceStage* avoided = nullptr;
  bool another = false;  // than the avoided one, now or later
  for (const auto& device : devices_) {
    const LoadedParameters& parameters = record.devices[device->number()];
    if (!device->service().works() || !Takes(c_.parts, device->number(), job.facts.kind)) continue;
    const bool avoid = job.partitions[index].avoid == &device->device();
    another = another || (!avoid && parameters.failed.ok());
    if (parameters.Get() == nullptr) continue;
    const bool has_room = device->queue().load() < room;
    if (avoid) {
      avoided = has_room ? device.get() : nullptr;
      continue;
    }
    stages.push_back(device.get());
    candidates.push_back({.load = device->queue().load() + device->in_hand(),
                          .room = has_room,
                          .pace = device->meter().Pace(job.circuit)});
  }
  if (const std::optional<size_t> best = ChooseBySpeed(candidates)) return stages[*best];
  return another ? nullptr : avoided;
}

bool Admission::MayGo(uint64_t key) {
  const auto job = c_.state.jobs.Find(key);
  switch (job->life.now()) {
    case Life::kWaiting:
      return true;
    case Life::kSetAside:
      return !Loads();
    case Life::kProving:
      break;
    default:
      return false;
  }
  for (uint32_t i = 0; i < job->partitions.size(); ++i) {
    if (job->partitions[i].state == PartitionState::kPending) return ChooseDevice(*job, i) != nullptr;
  }
  return false;
}

bool Admission::Pick(Turn* turn) {
  lease_missing_ = false;
  StateLock lock(c_.state, Actor::kScheduler);
  if (c_.state.stopping || !synthesis_.HasRoom()) return false;
  const auto key =
      c_.state.scheduler.Next([this](uint64_t k) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { return MayGo(k); });
  if (!key) return false;
  turn->seen = budget_.ChangeCount();
  turn->in_flight = InFlight();
  std::shared_ptr<Job> job = c_.state.jobs.Find(*key);
  if (job->parsed) return PickPartition(std::move(job), turn);
  PickParse(std::move(job), turn);
  return true;
}

void Admission::PickParse(std::shared_ptr<Job> job, Turn* turn) const {
  if (job->stored_bytes > 0) turn->request_bytes = job->stored_bytes + c_.work.ParsedBytes(job->stored_bytes);
  turn->parse = ParseTask{.passage = {}, .job = std::move(job)};
}

bool Admission::PickPartition(std::shared_ptr<Job> job, Turn* turn) {
  const auto first = std::find_if(job->partitions.begin(), job->partitions.end(),
                                  [](const auto& partition) { return partition.state == PartitionState::kPending; });
  PartitionTask task;
  task.index = static_cast<uint32_t>(first - job->partitions.begin());
  task.parsed = job->parsed;
  // Since MayGo looked, the last partition that used them may have let go of the parameters, which takes no mutex. Its
  // passage ends thereafter and wakes the loop, which finds that the job waits for parameters.
  if (const auto& chosen = c_.parts.seams.before_device) chosen(job->id);
  task.device = ChooseDevice(*job, task.index);
  if (task.device == nullptr) return false;
  const CircuitRecord& record = c_.circuits.Known(job->circuit);
  task.parameters = record.devices[task.device->number()].Get();
  if (task.parameters == nullptr) return false;
  turn->lease_bytes = record.lease_bytes;
  turn->host_bytes = task.parameters->plan().partition_host_bytes;
  task.job = std::move(job);
  turn->synthesis = SynthesisTask{.task = std::move(task), .lease = {}};
  return true;
}

Status Admission::Provide(Turn& turn) {
  if (turn.parse) {
    if (turn.request_bytes == 0) return absl::OkStatus();
    CUZK_ASSIGN_OR_RETURN(turn.request_memory,
                          budget_.TryReserve(memory::MemoryClass::kRequests, turn.request_bytes, c_.request_limit));
    return absl::OkStatus();
  }
  // What was got of two is kept for the next attempt: giving it back would wake this loop at once.
  if (held_.bytes() != turn.host_bytes) {
    held_.Release();
    CUZK_ASSIGN_OR_RETURN(held_, budget_.TryReserve(memory::MemoryClass::kWitnesses, turn.host_bytes));
  }
  lease_missing_ = true;
  CUZK_ASSIGN_OR_RETURN(turn.synthesis->lease, turn.synthesis->task.device->pool().TryAcquire(turn.lease_bytes));
  lease_missing_ = false;
  turn.synthesis->task.host_memory = std::move(held_);
  return absl::OkStatus();
}

bool Admission::Serve() {
  Turn turn;
  if (!Pick(&turn)) return false;
  const Status provided = Provide(turn);
  if (!provided.ok()) return Refused(turn, provided);
  Dispatch(std::move(turn));
  return true;
}

void Admission::Dispatch(Turn turn) {
  StateLock lock(c_.state, Actor::kScheduler);
  Job& job = turn.job();
  if (Over(job) || c_.state.stopping) return;  // the turn gives everything back, when the mutex has been released
  const uint64_t key = job.key;
  if (turn.parse) {
    BeginParse(lock, turn);
    // Takes nothing from jobs that wait for a device: it does not pass them.
    c_.state.scheduler.SetReady(key, 0);
  } else if (BeginPartition(turn)) {
    c_.state.scheduler.Served(key);
  } else {
    return;
  }
  c_.reports.Publish(job);
}

void Admission::BeginParse(StateLock& lock, Turn& turn) {
  Job& job = *turn.parse->job;
  job.life.Take(Life::kParsing, lock.actor());
  job.started = c_.Now();
  if (turn.request_memory.bytes() > 0) job.memory = std::move(turn.request_memory);
  job.timings.queue_wait_ms = Milliseconds(*job.started - job.submitted);
  turn.parse->passage = Passage(c_.state, c_.state.in_flight);
  synthesis_.Push(*std::move(turn.parse));
}

bool Admission::BeginPartition(Turn& turn) {
  PartitionTask& task = turn.synthesis->task;
  if (!task.device->service().works()) return false;
  task.job->partitions[task.index].state = PartitionState::kSynthesizing;
  task.device->queue().Promise();
  LoadedParameters& loaded = c_.circuits.Known(task.job->circuit).devices[task.device->number()];
  loaded.loaded = task.parameters;
  loaded.fresh.reset();
  task.passage = Passage(c_.state, c_.state.in_flight);
  task.began = c_.Now();
  synthesis_.Push(*std::move(turn.synthesis));
  return true;
}

}  // namespace cuzk::engine
