#include "core/engine/stages/synthesis.h"

#include <utility>

#include "core/base/thread.h"
#include "core/engine/jobs/work_mark.h"
#include "core/engine/stages/device.h"

namespace cuzk::engine {

Status SynthesisStage::Start(unsigned threads) {
  threads_.reserve(threads);
  for (unsigned t = 0; t < threads; ++t) {
    CUZK_ASSIGN_OR_RETURN(std::jthread thread, StartThread("the writing of witnesses", [this, t] { Run(t); }));
    threads_.push_back(std::move(thread));
  }
  return absl::OkStatus();
}

void SynthesisStage::Push(HostTask task) {
  tasks_.push_back(std::move(task));
  wake_.NotifyOne();
}

void SynthesisStage::Run(unsigned thread) {
  const std::string track = StrCat("synthesis ", thread);
  for (;;) {
    HostTask next;
    {
      StateLock lock(c_.state, Actor::kSynthesis);
      idle_++;
      c_.state.admission.Notify();
      while (!c_.state.stopping && tasks_.empty()) lock.Wait(wake_);
      idle_--;
      if (c_.state.stopping) return;
      next = std::move(tasks_.front());
      tasks_.pop_front();
    }
    if (auto* parse = std::get_if<ParseTask>(&next)) {
      const std::shared_ptr<Job> job = parse->job;
      const WorkMark mark(c_.store, thread, *job);
      parse_.Parse(std::move(*parse), track);
    } else {
      auto& synthesis = std::get<SynthesisTask>(next);
      const std::shared_ptr<Job> job = synthesis.task.job;
      const WorkMark mark(c_.store, thread, *job);
      Synthesize(std::move(synthesis), track);
    }
  }
}

void SynthesisStage::Synthesize(SynthesisTask synthesis, const std::string& track) {
  PartitionTask task = std::move(synthesis.task);
  std::shared_ptr<const r1cs::Shape> shape;
  {
    StateLock lock(c_.state, Actor::kSynthesis);
    shape = c_.circuits.Known(task.parsed->circuit().id).shape;
    if (Over(*task.job)) {
      task.device->queue().Unpromise();
      return;  // the lease goes home after the mutex has been released
    }
    c_.reports.Publish(*task.job);
  }
  const TimePoint begin = c_.Now();
  const filecoin::Partition& partition = task.parsed->request.partitions[task.index];
  auto witness =
      c_.work.Write(task.parsed->circuit(), std::move(shape), partition, std::move(synthesis.lease), *c_.parts.pool);
  const Duration took = c_.Now() - begin;
  c_.reports.Draw(*task.job, task.index, "synthesis", track, begin);
  {
    StateLock lock(c_.state, Actor::kSynthesis);
    task.device->queue().Unpromise();
    Job& job = *task.job;
    if (!witness.ok()) {
      c_.jobs.End(lock, job, FailureOf(witness.status(), StrCat("partition ", partition.index, ", ")));
      return;
    }
    if (Over(job)) return;
    job.partitions[task.index].synthesis_ms = Milliseconds(took);
    job.timings.synthesis_ms += Milliseconds(took);
  }
  c_.reports.Measured(*task.job, Stage::kSynthesis, took, Actor::kSynthesis);
  DeviceStage& device = *task.device;
  StateLock lock(c_.state, Actor::kSynthesis);
  device.Push(lock, DeviceTask{.task = std::move(task), .witness = *std::move(witness)});
}

}  // namespace cuzk::engine
