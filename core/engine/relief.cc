// When memory is short. While anything is on its way, whoever needs memory waits: some will come back. When nothing is,
// what lies idle yields: parameters that wait for their first use, then requests of which the store has a copy. Only a
// job or a load that does not fit even then is refused.

#include <algorithm>
#include <utility>

#include "core/engine/wanted.h"

namespace cuzk::engine {
namespace {

bool HoldsMemory(const Job& job) { return !Over(job) && (job.parsed != nullptr || job.memory.bytes() > 0); }

}  // namespace

std::vector<std::shared_ptr<const prover::ResidentParameters>> Pipeline::TakeFresh(const std::string& except) {
  std::vector<std::shared_ptr<const prover::ResidentParameters>> taken;
  for (auto& [id, desk] : board_.circuits) {
    for (LoadedParameters& line : desk.lines) {
      if (line.fresh != nullptr && id != except) taken.push_back(std::move(line.fresh));
    }
  }
  for (const auto& [key, job] : board_.jobs.jobs()) Refresh(*job);
  return taken;
}

bool Pipeline::SetAside(BoardLock& lock, const Job* favoured) {
  Job* last = nullptr;
  if (favoured == nullptr) {
    for (const auto& [key, job] : board_.jobs.jobs()) {
      if (HoldsMemory(*job) && (favoured == nullptr || MoreUrgent(*job, *favoured))) favoured = job.get();
    }
  }
  for (const auto& [key, job] : board_.jobs.jobs()) {
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
  last->set_aside = true;
  last->started.reset();
  last->state = JobState::kQueued;
  Refresh(*last);
  Publish(*last);
  return true;
}

bool Pipeline::Refused(const Wanted& wanted, const Status& status) {
  std::vector<std::shared_ptr<const prover::ResidentParameters>> yielded;  // freed after the lock
  Job& job = *wanted.task.task.job;
  BoardLock lock(board_);
  if (Over(job)) return true;
  if (absl::IsUnavailable(status)) {
    if (wanted.in_flight || board_.in_flight > 0) return false;  // its end wakes the loop
    if (budget_.ChangeCount() != wanted.seen) return true;       // something came back meanwhile
    yielded = TakeFresh(job.circuit);
    if (!yielded.empty()) return true;
    const auto& jobs = board_.jobs.jobs();
    if (board_.loads > 0 || std::any_of(jobs.begin(), jobs.end(), [](const auto& j) { return j.second->loading; })) {
      // Who loads takes the memory first, also that of parameters that this job cannot use yet.
      if (!wanted.parse) yielded = TakeFresh("");
      return false;
    }
    if (SetAside(lock, &job)) return true;
  }
  std::string what = wanted.parse ? "no memory for the request: "
                                  : StrCat("partition ", wanted.task.task.index, ": no memory for its witness: ");
  End(lock, job, JobState::kFailed, StrCat(what, status.message()));
  return true;
}

bool Pipeline::Relieve() {
  std::vector<std::shared_ptr<const prover::ResidentParameters>> yielded;  // freed after the lock
  const uint64_t waiting = budget_.Waiting(memory::MemoryClass::kParameters);
  if (waiting == 0) return false;
  const int loads = board_.loads;
  uint64_t loading = 0;
  for (const prover::ParameterStatus& status : parts_.parameters->Snapshot()) {
    loading += status.state == prover::ParameterStatus::State::kLoading;
  }
  BoardLock lock(board_);
  if (board_.stopping || board_.in_flight > 0 || board_.synthesis_idle < synthesis_threads_) return false;
  if (waiting < loading || board_.loads != loads) return false;
  // Every load waits for memory, and nothing that holds any is on its way.
  yielded = TakeFresh("");
  if (!yielded.empty() || SetAside(lock, nullptr)) return true;
  budget_.RefuseWaiting(memory::MemoryClass::kParameters);
  return false;
}

}  // namespace cuzk::engine
