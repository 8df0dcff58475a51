// Status, and the parameters by name.

#include <utility>

#include "core/engine/engine.h"
#include "core/engine/engine_impl.h"

namespace cuzk::engine {
namespace {

/// Ended jobs are shown for so long.
constexpr std::chrono::seconds kShowEnded{30};

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

JobStatus StatusOfJob(const Pipeline& pipeline, Job& job, TimePoint now) {
  JobStatus out{.progress = pipeline.ProgressOf(job), .priority = job.priority, .circuit = job.circuit};
  out.submitted_seconds_ago = Seconds(now - job.submitted);
  if (job.started) out.started_seconds_ago = Seconds(now - *job.started);
  if (job.finished) out.finished_seconds_ago = Seconds(now - *job.finished);
  for (const PartitionRecord& partition : job.partitions) {
    out.partitions.push_back({.index = static_cast<uint32_t>(out.partitions.size()),
                              .state = partition.state,
                              .synthesis_ms = partition.synthesis_ms,
                              .device_ms = partition.device_ms});
  }
  return out;
}

DeviceStatus StatusOfLine(const DeviceLine& line, TimePoint now) {
  DeviceStatus out{.name = std::string(line.device->name()), .ordinal = line.device->ordinal(), .memory = line.memory};
  out.lost = std::string(line.lost.message());
  out.queued = static_cast<uint32_t>(line.queue.size());
  out.partitions_total = line.partitions_total;
  for (unsigned w = 0; w < line.workers.size(); ++w) {
    const WorkerState& state = line.workers[w];
    WorkerStatus worker{.worker = w, .busy_seconds_total = Seconds(state.busy)};
    if (state.job != nullptr) {
      worker.job_key = state.job->key;
      worker.job_id = state.job->id;
      worker.kind = state.job->facts.kind;
      worker.partition = state.partition;
      worker.busy_seconds = Seconds(now - state.since);
    }
    out.workers.push_back(std::move(worker));
  }
  return out;
}

}  // namespace

EngineStatus Engine::Snapshot() const {
  EngineStatus out;
  Status ready = Ready();
  out.not_ready = std::string(ready.message());
  out.uptime_seconds = Seconds(std::chrono::steady_clock::now() - impl_->started);
  out.budget = impl_->parts.budget->Snapshot();
  out.parameters = impl_->parameters->Snapshot();
  out.synthesis_threads = std::max(1u, impl_->options.synthesis_threads);
  const Pipeline& pipeline = impl_->pipeline;
  const Board& board = pipeline.board();
  TimePoint now = pipeline.Now();
  {
    BoardLock lock(board);
    out.kinds = board.kinds;
    out.counters = board.counters;
    out.last_errors.assign(board.last_errors.begin(), board.last_errors.end());
    out.results_kept = board.jobs.ended();
    out.synthesis_active = out.synthesis_threads - std::min(out.synthesis_threads, board.synthesis_idle);
    for (const auto& line : board.lines) out.devices.push_back(StatusOfLine(*line, now));
    std::vector<JobStatus> ended;
    for (const auto& [key, job] : board.jobs.jobs()) {
      if (IsFinal(job->state)) {
        if (now - *job->finished <= kShowEnded) ended.push_back(StatusOfJob(pipeline, *job, now));
        continue;
      }
      KindStatus& kind = out.kinds[job->facts.kind];
      (job->state == JobState::kQueued ? kind.pending : kind.in_progress)++;
      out.jobs.push_back(StatusOfJob(pipeline, *job, now));
    }
    for (JobStatus& job : ended) out.jobs.push_back(std::move(job));
  }
  for (size_t i = 0; i < out.devices.size(); ++i) out.devices[i].pool = board.lines[i]->pool.Snapshot();
  return out;
}

StatusOr<PreloadResult> Engine::Preload(const std::string& circuit_id, std::stop_token stop) {
  const filecoin::Circuit* circuit = filecoin::FindCircuit(circuit_id);
  if (circuit == nullptr) return absl::InvalidArgumentError(StrCat("there is no circuit ", circuit_id));
  TimePoint begin = std::chrono::steady_clock::now();
  Pipeline& pipeline = impl_->pipeline;
  Passage passage;
  std::vector<DeviceLine*> lines;
  {
    BoardLock lock(pipeline.board());
    passage = Passage(pipeline.board().in_flight, pipeline.board().admission);
    for (const auto& line : pipeline.board().lines) {
      if (line->lost.ok()) lines.push_back(line.get());
    }
    if (lines.empty()) return absl::UnavailableError(pipeline.board().refusing);
  }
  size_t ready = 0;
  for (const prover::ParameterStatus& status : impl_->parameters->Snapshot()) {
    ready += status.circuit == circuit_id && status.state == prover::ParameterStatus::State::kReady;
  }
  if (ready >= lines.size()) return PreloadResult{.already_loaded = true};
  CUZK_ASSIGN_OR_RETURN(auto shape, pipeline.ShapeOf(*circuit));
  for (DeviceLine* line : lines) {
    CUZK_RETURN_IF_ERROR(impl_->parameters->Get(*line->device, *circuit, shape, stop, {}).status());
  }
  auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  return PreloadResult{.load_time_ms = static_cast<uint64_t>(took.count())};
}

StatusOr<EvictResult> Engine::Evict(const std::string& circuit_id) {
  if (filecoin::FindCircuit(circuit_id) == nullptr) {
    return absl::InvalidArgumentError(StrCat("there is no circuit ", circuit_id));
  }
  auto held = [&] {
    uint64_t bytes = 0;
    for (const prover::ParameterStatus& status : impl_->parameters->Snapshot()) {
      if (status.circuit == circuit_id) bytes += status.host_bytes + status.device_bytes;
    }
    return bytes;
  };
  uint64_t before = held();
  CUZK_ASSIGN_OR_RETURN(bool was_loaded, impl_->parameters->Evict(circuit_id));
  uint64_t after = held();
  return EvictResult{.was_loaded = was_loaded, .freed_bytes = before > after ? before - after : 0};
}

}  // namespace cuzk::engine
