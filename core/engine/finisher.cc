// The finisher: sums become proofs, proofs are verified, and only then does anybody see them.

#include <algorithm>
#include <utility>

#include "core/engine/pipeline.h"

namespace cuzk::engine {

void Pipeline::RunFinisher() {
  for (;;) {
    FinishTask task;
    {
      BoardLock lock(board_);
      board_.finisher_wake.wait(lock.get(), [this] { return board_.stopping || !board_.finishing.empty(); });
      if (board_.stopping) return;
      task = std::move(board_.finishing.front());
      board_.finishing.pop_front();
      if (Over(*task.task.job)) continue;
    }
    FinishPartition(std::move(task));
  }
}

void Pipeline::FinishPartition(FinishTask finish) {
  PartitionTask& task = finish.task;
  TimePoint begin = Now();
  auto proof = groth16::Assemble(task.parameters->verifying_key(), finish.results, groth16::Blinding::Random());
  groth16::Proof::Bytes bytes{};
  if (proof.ok()) {
    bytes = proof->ToBytes();
    if (const auto& corrupt = parts_.engine->seams.after_assembly) corrupt(task.job->id, task.index, bytes);
    // What is verified is what will be returned.
    proof = groth16::Proof::FromBytes(bytes);
  }
  Draw(task, "assemble", "finisher", begin);
  task.parameters.reset();
  bool complete = false;
  {
    BoardLock lock(board_);
    Job& job = *task.job;
    if (Over(job)) return;
    if (!proof.ok()) {
      ProveAgain(lock, job, task.index, std::string(proof.status().message()));
      return;
    }
    PartitionRecord& partition = job.partitions[task.index];
    partition.proof = *proof;
    partition.bytes = bytes;
    partition.state = PartitionState::kDone;
    complete =
        std::all_of(job.partitions.begin(), job.partitions.end(), [](const auto& p) { return p.proof.has_value(); });
    board_.counters.partitions_total++;
    Publish(job);
  }
  Measured(*task.job, Stage::kFinishing, Now() - begin);
  if (complete) FinishJob(task);
}

void Pipeline::FinishJob(const PartitionTask& task) {
  std::vector<groth16::Statement> statements;
  std::shared_ptr<const groth16::Verifier> verifier;
  std::string bytes;
  {
    BoardLock lock(board_);
    if (Over(*task.job)) return;
    verifier = board_.circuits.at(task.job->circuit).verifier;
    for (const PartitionRecord& partition : task.job->partitions) {
      const auto& inputs = task.parsed->request.partitions[statements.size()].public_inputs;
      statements.push_back({*partition.proof, inputs});
      bytes.append(partition.bytes.begin(), partition.bytes.end());
    }
  }
  TimePoint begin = Now();
  bool disagreed = false;
  auto wrong = verifier->FindWrong(statements, *parts_.engine->pool, &disagreed);
  Draw(task, "verify", "finisher", begin);
  Measured(*task.job, Stage::kVerifying, Now() - begin);
  BoardLock lock(board_);
  Job& job = *task.job;
  if (disagreed) {
    board_.counters.verifier_disagreements_total++;
    Warn(lock, StrCat(job.id, ": ", statements.size(),
                      " proofs verify one by one, but not together: the machine may be faulty"));
  }
  if (Over(job)) return;
  if (!wrong.ok()) {
    End(lock, job, JobState::kFailed, StrCat("verification: ", wrong.status().message()));
  } else if (wrong->empty()) {
    End(lock, job, JobState::kCompleted, std::move(bytes));
  } else {
    for (size_t index : *wrong) {
      if (!ProveAgain(lock, job, static_cast<uint32_t>(index), "the proof does not verify")) return;
    }
  }
}

bool Pipeline::ProveAgain(BoardLock& lock, Job& job, uint32_t index, const std::string& what) {
  board_.counters.wrong_proofs_total++;
  PartitionRecord& partition = job.partitions[index];
  std::string device = partition.proved_on == nullptr ? "?" : std::string(partition.proved_on->name());
  std::string text = StrCat("partition ", index, ": ", what, " (proved on ", device, ")");
  Warn(lock, StrCat(job.id, ": ", text));
  if (++partition.wrong_proofs > 1) {
    End(lock, job, JobState::kFailed, StrCat(text, ", and neither did the one before; nothing was returned"));
    return false;
  }
  partition.avoid = partition.proved_on;
  ReturnPartition(job, index);
  return true;
}

}  // namespace cuzk::engine
