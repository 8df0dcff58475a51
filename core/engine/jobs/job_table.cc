#include "core/engine/jobs/job_table.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace cuzk::engine {
std::shared_ptr<Job> JobTable::FindEqual(const std::string& id, filecoin::Kind kind, const Bytes32& digest) const {
  auto keys = by_id_.find(id);
  if (keys == by_id_.end()) return nullptr;
  for (auto key = keys->second.rbegin(); key != keys->second.rend(); ++key) {
    const auto& job = jobs_.at(*key);
    const Life life = job->life.now();
    const bool kept = (life == Life::kReporting || life == Life::kEnded) && job->outcome == JobState::kCompleted;
    // Its callers get the proof once it is recorded, which a slow disk may take long for.
    const bool recorded = life == Life::kRecording && job->recording.state == JobState::kCompleted;
    if ((!Over(*job) || kept || recorded) && job->facts.kind == kind && job->digest == digest) return job;
  }
  return nullptr;
}

std::shared_ptr<Job> JobTable::Add(Submission submission, TimePoint now) {
  auto job = std::make_shared<Job>();
  job->key = next_key_++;
  job->id = std::move(submission.job_id);
  job->facts = submission.facts;
  job->digest = submission.digest;
  job->priority = submission.priority;
  job->deadline = submission.deadline;
  job->submitted = now;
  job->payload_bytes = submission.payload_bytes;
  job->subject = submission.subject;
  job->vanilla = std::move(submission.vanilla);
  job->memory = std::move(submission.memory);
  job->row = submission.row;
  job->stored_bytes = submission.stored_bytes;
  job->losses = submission.losses;
  // What a PoRep is shows only in its C1.
  if (job->facts.kind != filecoin::Kind::kPorep && job->facts.proof != nullptr) {
    job->circuit = job->facts.proof->circuit->id;
  }
  jobs_.emplace(job->key, job);
  by_id_[job->id].insert(job->key);
  ++unfinished_;
  return job;
}

std::shared_ptr<Job> JobTable::AddEnded(std::shared_ptr<Job> job, TimePoint now, Duration ago) {
  CUZK_CHECK(IsFinal(job->outcome) && HasEnded(job->life.now()));
  job->key = next_key_++;
  job->finished = now - ago;
  job->stop.request_stop();
  jobs_.emplace(job->key, job);
  by_id_[job->id].insert(job->key);
  Peers(*job).emplace(*job->finished, job->key);
  return job;
}

std::shared_ptr<Job> JobTable::Find(uint64_t key) const {
  auto it = jobs_.find(key);
  return it == jobs_.end() ? nullptr : it->second;
}

std::shared_ptr<Job> JobTable::Newest(const std::string& id) const {
  auto keys = by_id_.find(id);
  return keys == by_id_.end() ? nullptr : jobs_.at(*keys->second.rbegin());
}

void JobTable::Finish(Job& job, Outcome outcome, TimePoint now, Life to, Actor by) {
  CUZK_CHECK(IsFinal(outcome.state) && HasEnded(to));
  job.life.Take(to, by);
  job.outcome = outcome.state;
  job.finished = now;
  if (outcome.state == JobState::kCompleted) {
    job.proof = std::make_shared<const std::string>(std::move(outcome.text));
    job.fraction = 1;
    job.timings.total_ms = Milliseconds(now - job.submitted);
  } else {
    job.error = std::move(outcome.text);
    job.bad_sectors = std::move(outcome.bad_sectors);
    job.failure = outcome.failure;
    job.message = job.error;
    job.timings = {};
    for (PartitionRecord& partition : job.partitions) {
      if (partition.state != PartitionState::kDone) partition.state = PartitionState::kFailed;
    }
  }
  job.vanilla = {};
  job.memory.Release();
  job.parsed.reset();
  job.stop.request_stop();
  --unfinished_;
  Peers(job).emplace(now, job.key);
  Prune(now);
}

JobTable::Worth JobTable::WorthOf(const Job& job) {
  return job.life.Is(Life::kFetched) ? kFetched : job.outcome == JobState::kCompleted ? kProof : kFailed;
}

bool JobTable::Fetched(Job& job) {
  if (!job.life.Is(Life::kEnded) && !job.life.Is(Life::kDelivering)) return false;
  // A job that was forgotten while a caller waited stays forgotten.
  const bool kept = Peers(job).erase({*job.finished, job.key}) > 0;
  job.life.Take(Life::kFetched, Actor::kCaller);
  if (kept) Peers(job).emplace(*job.finished, job.key);
  return kept;
}

uint64_t JobTable::ended() const {
  uint64_t count = 0;
  for (const auto& peers : ended_) count += peers.size();
  return count;
}

void JobTable::Prune(TimePoint now) {
  for (auto& peers : ended_) {
    while (!peers.empty() && now - peers.begin()->first > retention_.age) Forget(*jobs_.at(peers.begin()->second));
  }
  uint64_t left = ended();
  for (auto& peers : ended_) {
    for (; !peers.empty() && left > retention_.max_results; --left) Forget(*jobs_.at(peers.begin()->second));
  }
}

void JobTable::Forget(const Job& job) {
  const auto held = jobs_.at(job.key);
  if (job.row != 0) forgotten_rows_.push_back(job.row);
  auto keys = by_id_.find(job.id);
  keys->second.erase(job.key);
  if (keys->second.empty()) by_id_.erase(keys);
  Peers(job).erase({*job.finished, job.key});
  jobs_.erase(job.key);
}

JobResult ResultOf(const Job& job) {
  CUZK_CHECK(IsFinal(job.outcome));
  return JobResult{.job_id = job.id,
                   .key = job.key,
                   .kind = job.facts.kind,
                   .state = job.outcome,
                   .proof = job.proof,
                   .error = job.error,
                   .timings = job.timings,
                   .spent = job.spent};
}

}  // namespace cuzk::engine
