#include "core/engine/stages/finish.h"

#include <algorithm>
#include <utility>

#include "core/base/thread.h"
#include "core/engine/stages/quarantine.h"

namespace cuzk::engine {

Status FinishStage::Start() {
  CUZK_ASSIGN_OR_RETURN(thread_, StartThread("the verification of proofs", [this] { Run(); }));
  return absl::OkStatus();
}

void FinishStage::Push(FinishTask task) {
  tasks_.push_back(std::move(task));
  wake_.NotifyOne();
}

void FinishStage::Run() {
  for (;;) {
    FinishTask task;
    {
      StateLock lock(c_.state, Actor::kFinisher);
      while (!c_.state.stopping && tasks_.empty()) lock.Wait(wake_);
      if (c_.state.stopping) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      if (Over(*task.task.job)) continue;
    }
    FinishPartition(std::move(task));
  }
}

bool FinishStage::Keep(Job& job, uint32_t index, const groth16::Proof& proof, const groth16::Proof::Bytes& bytes) {
  PartitionRecord& partition = job.partitions[index];
  partition.proof = proof;
  partition.bytes = bytes;
  partition.state = PartitionState::kDone;
  c_.state.counters.partitions_total++;
  c_.reports.Publish(job);
  return std::all_of(job.partitions.begin(), job.partitions.end(), [](const auto& p) { return p.proof.has_value(); });
}

void FinishStage::FinishPartition(FinishTask finish) {
  PartitionTask& task = finish.task;
  const TimePoint begin = c_.Now();
  auto proof = groth16::Assemble(task.parameters->verifying_key(), finish.results, groth16::Blinding::Random());
  groth16::Proof::Bytes bytes{};
  if (proof.ok()) {
    bytes = proof->ToBytes();
    if (const auto& corrupt = c_.parts.seams.after_assembly) corrupt(task.job->id, task.index, bytes);
    // What is verified is what will be returned.
    proof = groth16::Proof::FromBytes(bytes);
  }
  c_.reports.Draw(*task.job, task.index, "assemble", "finisher", begin);
  task.parameters.reset();
  bool complete = false;
  {
    StateLock lock(c_.state, Actor::kFinisher);
    Job& job = *task.job;
    if (Over(job)) return;
    if (!proof.ok()) {
      ProveAgain(lock, job, task.index, std::string(proof.status().message()));
      return;
    }
    complete = Keep(job, task.index, *proof, bytes);
  }
  c_.reports.Measured(*task.job, Stage::kFinishing, c_.Now() - begin, Actor::kFinisher);
  if (complete) FinishJob(task);
}

void FinishStage::FinishJob(const PartitionTask& task) {
  Job& job = *task.job;
  std::vector<groth16::Statement> statements;
  std::shared_ptr<const groth16::Verifier> verifier;
  std::string bytes;
  {
    StateLock lock(c_.state, Actor::kFinisher);
    if (Over(job)) return;
    verifier = c_.circuits.Known(job.circuit).verifier;
    for (const PartitionRecord& partition : job.partitions) {
      const auto& inputs = task.parsed->request.partitions[statements.size()].public_inputs;
      statements.push_back({*partition.proof, inputs});
      bytes.append(partition.bytes.begin(), partition.bytes.end());
    }
  }
  const TimePoint begin = c_.Now();
  bool disagreed = false;
  const auto wrong = verifier->FindWrong(statements, *c_.parts.pool, &disagreed);
  c_.reports.Draw(job, task.index, "verify", "finisher", begin);
  c_.reports.Measured(job, Stage::kVerifying, c_.Now() - begin, Actor::kFinisher);
  if (disagreed) {
    StateLock lock(c_.state, Actor::kFinisher);
    c_.state.counters.verifier_disagreements_total++;
    c_.reports.Warn(lock, StrCat(job.id, ": ", statements.size(),
                                 " proofs verify one by one, but not together: the machine may be faulty"));
  }
  Conclude(job, wrong, std::move(bytes));
}

void FinishStage::Conclude(Job& job, const StatusOr<std::vector<size_t>>& wrong, std::string proof) {
  StateLock lock(c_.state, Actor::kFinisher);
  if (Over(job)) return;
  if (!wrong.ok()) {
    c_.jobs.Fail(lock, job, StrCat("verification: ", wrong.status().message()));
    return;
  }
  BlameDevices(lock, job, *wrong);
  if (wrong->empty()) {
    c_.jobs.End(lock, job, {JobState::kCompleted, std::move(proof)});
  } else {
    for (size_t index : *wrong) {
      if (!ProveAgain(lock, job, static_cast<uint32_t>(index), "the proof does not verify")) return;
    }
  }
}

/// A wrong proof is a device's fault where another attempt at the same statement was right with the same key.
void FinishStage::BlameDevices(StateLock& lock, Job& job, const std::vector<size_t>& wrong) {
  for (size_t i = 0; i < job.partitions.size(); ++i) {
    const prover::Device* device = job.partitions[i].wrong_on;
    if (device == nullptr || std::find(wrong.begin(), wrong.end(), i) != wrong.end()) continue;
    job.partitions[i].wrong_on = nullptr;
    c_.quarantine.GaveWrongProof(lock, *device);
  }
}

bool FinishStage::ProveAgain(StateLock& lock, Job& job, uint32_t index, const std::string& what) {
  c_.state.counters.wrong_proofs_total++;
  PartitionRecord& partition = job.partitions[index];
  const std::string device = partition.proved_on == nullptr ? "?" : std::string(partition.proved_on->name());
  std::string text = StrCat("partition ", index, ": ", what, " (proved on ", device, ")");
  c_.reports.Warn(lock, StrCat(job.id, ": ", text));
  if (++partition.wrong_proofs > 1) {
    c_.jobs.Fail(lock, job,
                 StrCat(text, "; this was the second wrong proof of the partition, so no proof was returned"));
    return false;
  }
  partition.avoid = partition.wrong_on = partition.proved_on;
  c_.jobs.ReturnPartition(lock, job, index);
  return true;
}

}  // namespace cuzk::engine
