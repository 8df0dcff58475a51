// What admission does when memory is short.

#include <algorithm>
#include <utility>

#include "core/engine/admission.h"

namespace cuzk::engine {
namespace {

bool HoldsMemory(const Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) {
  return !Over(job) && (job.parsed != nullptr || job.memory.bytes() > 0);
}

}  // namespace

std::vector<Parameters> Admission::TakeFresh(const StateLock& lock, const std::string& except) {
  std::vector<Parameters> taken = c_.circuits.TakeFresh(except);
  c_.jobs.RefreshAll(lock);
  return taken;
}

bool Admission::IsLoading() const {
  if (Loads()) return true;
  for (const auto& [key, job] : c_.state.jobs.jobs()) {
    if (job->life.Is(Life::kLoading)) return true;
  }
  return false;
}

bool Admission::SetAside(StateLock& lock, const Job* favoured) {
  Job* last = nullptr;
  if (favoured == nullptr) {
    for (const auto& [key, job] : c_.state.jobs.jobs()) {
      if (HoldsMemory(*job) && (favoured == nullptr || MoreUrgent(*job, *favoured))) favoured = job.get();
    }
  }
  for (const auto& [key, job] : c_.state.jobs.jobs()) {
    if (job.get() == favoured || job->row == 0 || !HoldsMemory(*job)) continue;
    if (last == nullptr || MoreUrgent(*last, *job)) last = job.get();
  }
  if (last == nullptr) return false;
  lock.After([parsed = std::move(last->parsed), vanilla = std::move(last->vanilla)]() mutable {
    parsed.reset();
    vanilla = {};
  });
  last->memory.Release();
  // It goes on as after a restart, but keeps the partitions that are proved.
  last->stored_bytes = std::max<uint64_t>(1, last->payload_bytes);
  last->life.Take(Life::kSetAside, lock.actor());
  last->started.reset();
  c_.jobs.Refresh(lock, *last);
  c_.reports.Publish(*last);
  return true;
}

bool Admission::Refused(const Turn& turn, const Status& status) {
  std::vector<Parameters> yielded;  // freed when the mutex has been released
  Job& job = turn.job();
  StateLock lock(c_.state, Actor::kScheduler);
  if (Over(job)) return true;
  if (absl::IsUnavailable(status)) {
    if (turn.in_flight || InFlight()) return false;       // its end wakes the loop
    if (budget_.ChangeCount() != turn.seen) return true;  // something has come back since
    yielded = TakeFresh(lock, job.circuit);
    if (!yielded.empty()) return true;
    if (IsLoading()) {
      // Loads take the memory first, also that of parameters that this job cannot use yet.
      if (!turn.parse) yielded = TakeFresh(lock, "");
      return false;
    }
    if (SetAside(lock, &job)) return true;
  }
  const std::string what = turn.parse
                               ? "no memory for the request: "
                               : StrCat("partition ", turn.synthesis->task.index, ": no memory for its witness: ");
  c_.jobs.Fail(lock, job, StrCat(what, status.message()));
  return true;
}

bool Admission::Relieve() {
  std::vector<Parameters> yielded;  // freed when the mutex has been released
  const uint64_t waiting = budget_.Waiting(memory::MemoryClass::kParameters);
  if (waiting == 0) return false;
  const int loads = c_.state.loads;
  uint64_t loading = 0;
  for (const prover::ParameterStatus& status : c_.parameters.Snapshot()) {
    loading += status.state == prover::ParameterStatus::State::kLoading;
  }
  StateLock lock(c_.state, Actor::kScheduler);
  if (c_.state.stopping || InFlight() || synthesis_.idle() < synthesis_.threads()) return false;
  // What hangs in a device does not wait for memory, nor does it come back.
  loading -= std::min<uint64_t>(loading, static_cast<uint64_t>(c_.state.loads_given_up.Abandoned(c_.Now())));
  if (waiting < loading || c_.state.loads != loads) return false;
  // Every load waits for memory, and nothing that holds any is on its way.
  yielded = TakeFresh(lock, "");
  if (!yielded.empty() || SetAside(lock, nullptr)) return true;
  budget_.RefuseWaiting(memory::MemoryClass::kParameters);
  return false;
}

}  // namespace cuzk::engine
