// The synthesis threads: requests are parsed, witnesses written into their leases.

#include <algorithm>
#include <utility>

#include "core/engine/pipeline.h"
#include "core/engine/work_mark.h"

namespace cuzk::engine {
void Pipeline::RunSynthesis(unsigned thread) {
  const std::string track = StrCat("synthesis ", thread);
  for (;;) {
    SynthesisTask next;
    {
      BoardLock lock(board_);
      board_.synthesis_idle++;
      board_.admission.Notify();
      board_.synthesis_wake.wait(lock.get(), [this] { return board_.stopping || !board_.synthesis.empty(); });
      board_.synthesis_idle--;
      if (board_.stopping) return;
      next = std::move(board_.synthesis.front());
      board_.synthesis.pop_front();
    }
    const std::shared_ptr<Job> job = next.task.job;
    const WorkMark mark(parts_.store, thread, *job);
    if (next.task.parameters == nullptr) {
      Parse(std::move(next.task), track);
    } else {
      Synthesize(std::move(next), track);
    }
  }
}

void Pipeline::Parse(PartitionTask task, const std::string& track) {
  auto parsed = std::make_shared<ParsedJob>();
  filecoin::VanillaRequest vanilla;
  {
    BoardLock lock(board_);
    if (Over(*task.job)) return;
    vanilla = std::exchange(task.job->vanilla, {});
    parsed->memory = std::move(task.job->memory);
  }
  TimePoint begin = Now();
  if (task.job->stored_bytes > 0) {
    auto stored = parts_.store->ReadPayload(task.job->row, task.job->digest);
    if (!stored.ok()) {
      BoardLock lock(board_);
      board_.counters.store_damaged_total++;
      End(lock, *task.job, JobState::kFailed,
          StrCat("the stored request is lost: ", stored.status().message(), "; send it again"));
      return;
    }
    vanilla = *std::move(stored);
  }
  uint64_t parsed_bytes = parts_.work->ParsedBytes(vanilla.payload_bytes());
  auto request = parts_.work->Parse(std::move(vanilla));
  Draw(task, "parse", track, begin);
  if (request.ok() && request->partitions.empty()) request = absl::InternalError("the request has no partitions");
  if (!request.ok()) {
    BoardLock lock(board_);
    End(lock, *task.job, JobState::kFailed, std::string(request.status().message()));
    return;
  }
  parsed->memory.ShrinkTo(parsed_bytes);
  parsed->request = *std::move(request);
  {
    BoardLock lock(board_);
    Job& job = *task.job;
    if (Over(job)) return;
    job.partitions_total = static_cast<uint32_t>(parsed->request.partitions.size());
    job.partitions.resize(job.partitions_total);
    job.circuit = parsed->circuit().id;
    job.parsed = std::move(parsed);
    // What failed for earlier jobs is tried again for this one.
    for (LoadedParameters& line : Desk(job.parsed->circuit()).lines) line.failed = absl::OkStatus();
    Refresh(job);
    board_.admission.Notify();
    Publish(job);
  }
  Measured(*task.job, Stage::kParsing, Now() - begin);
}

void Pipeline::Synthesize(SynthesisTask synthesis, const std::string& track) {
  PartitionTask task = std::move(synthesis.task);
  std::shared_ptr<const r1cs::Shape> shape;
  {
    BoardLock lock(board_);
    shape = board_.circuits.at(task.parsed->circuit().id).shape;
    if (Over(*task.job)) {
      task.line->underway--;
      return;  // the lease goes home after the lock
    }
    Publish(*task.job);
  }
  TimePoint begin = Now();
  const filecoin::Partition& partition = task.parsed->request.partitions[task.index];
  auto witness = parts_.work->Write(task.parsed->circuit(), std::move(shape), partition, std::move(synthesis.lease),
                                    *parts_.engine->pool);
  Duration took = Now() - begin;
  Draw(task, "synthesis", track, begin);
  {
    BoardLock lock(board_);
    task.line->underway--;
    Job& job = *task.job;
    if (!witness.ok()) {
      End(lock, job, JobState::kFailed, StrCat("partition ", partition.index, ", ", witness.status().message()));
      return;
    }
    if (Over(job)) return;
    job.partitions[task.index].synthesis_ms = Milliseconds(took);
    job.timings.synthesis_ms += Milliseconds(took);
  }
  Measured(*task.job, Stage::kSynthesis, took);
  Queue(DeviceTask{.task = std::move(task), .witness = *std::move(witness)});
}

void Pipeline::Queue(DeviceTask task) {
  BoardLock lock(board_);
  Job& job = *task.task.job;
  DeviceLine& line = *task.task.line;
  if (Over(job)) return;
  if (!line.lost.ok()) {
    ReturnPartition(job, task.task.index);
    return;
  }
  job.partitions[task.task.index].state = PartitionState::kSynthDone;
  task.task.began = Now();
  line.queue.push_back(std::move(task));
  line.wake.notify_all();
  Publish(job);
}

}  // namespace cuzk::engine
