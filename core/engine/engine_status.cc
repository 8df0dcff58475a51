// Status, and the parameters by name.

#include <algorithm>
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

/// Partitions that hold the parameters of the job's circuit: from their admission until their proof is put together.
uint32_t UsersOfParameters(const Job& job) {
  return static_cast<uint32_t>(
      std::count_if(job.partitions.begin(), job.partitions.end(), [](const PartitionRecord& partition) {
        return !partition.proof && partition.state != PartitionState::kPending &&
               partition.state != PartitionState::kFailed;
      }));
}

DeviceStatus StatusOfLine(const DeviceLine& line, TimePoint now) {
  DeviceStatus out{.name = std::string(line.device->name()), .ordinal = line.device->ordinal(), .memory = line.memory};
  out.lost = std::string(line.lost.message());
  out.queued = static_cast<uint32_t>(line.queue.size());
  out.partitions_total = line.partitions_total;
  out.identity = line.device->identity();
  out.memory_seconds_ago = Seconds(now - line.memory_seen);
  out.busy_seconds_total = Seconds(line.busy + (line.proving > 0 ? now - line.proving_since : Duration{}));
  for (const auto& [stage, time] : line.stage_time) out.stage_seconds.emplace(stage, Seconds(time));
  for (unsigned w = 0; w < line.workers.size(); ++w) {
    const WorkerState& state = line.workers[w];
    WorkerStatus worker{.worker = w, .busy_seconds_total = Seconds(state.busy)};
    worker.critical_only = w + 1 == line.workers.size();
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

uint32_t EngineStatus::ParameterReferences(const std::string& circuit) const {
  auto users = parameter_users.find(circuit);
  if (users != parameter_users.end()) return users->second;
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const auto& entry) { return entry.circuit == circuit && entry.in_use; })
             ? 1
             : 0;
}

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
    if (auto asked = pipeline.StoreAsked()) {
      out.store_wait_seconds = std::max(0.0, Seconds(std::chrono::steady_clock::now() - *asked));
    }
    for (const ErrorNote& error : board.last_errors) out.last_errors.push_back({error.text, Seconds(now - error.when)});
    out.results_kept = board.jobs.ended();
    out.synthesis_active = out.synthesis_threads - std::min(out.synthesis_threads, board.synthesis_idle);
    for (const auto& line : board.lines) out.devices.push_back(StatusOfLine(*line, now));
    std::vector<JobStatus> ended;
    for (const auto& [key, job] : board.jobs.jobs()) {
      if (IsFinal(job->state)) {
        if (now - *job->finished <= kShowEnded) ended.push_back(StatusOfJob(pipeline, *job, now));
        continue;
      }
      out.jobs.push_back(StatusOfJob(pipeline, *job, now));
      const JobProgress& progress = out.jobs.back().progress;
      const bool waits = progress.stage == Stage::kQueued && progress.partitions_done == 0;
      KindStatus& kind = out.kinds[job->facts.kind];
      (waits ? kind.pending : kind.in_progress)++;
      if (uint32_t users = UsersOfParameters(*job)) out.parameter_users[job->circuit] += users;
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
    CUZK_RETURN_IF_ERROR(impl_->Working());
    passage = Passage(pipeline.board().loads, pipeline.board().admission);
    for (const auto& line : pipeline.board().lines) {
      if (line->lost.ok()) lines.push_back(line.get());
    }
  }
  size_t ready = 0;
  for (const prover::ParameterStatus& status : impl_->parameters->Snapshot()) {
    ready += status.circuit == circuit_id && status.state == prover::ParameterStatus::State::kReady;
  }
  if (ready >= lines.size()) return PreloadResult{.already_loaded = true};
  if (!impl_->parameters->Available(*circuit)) return impl_->parameters->Missing(*circuit);
  CUZK_ASSIGN_OR_RETURN(auto shape, pipeline.ShapeOf(*circuit));
  // Whichever comes first: the caller's stop, or the engine's.
  std::stop_source either;
  std::stop_callback by_caller(stop, [&] { either.request_stop(); });
  std::stop_callback by_engine(pipeline.loading_stop(), [&] { either.request_stop(); });
  for (DeviceLine* line : lines) {
    Status loaded = either.stop_requested()
                        ? absl::CancelledError("cancelled before parameters were loaded")
                        : impl_->parameters->Get(*line->device, *circuit, shape, either.get_token(), {}).status();
    if (absl::IsCancelled(loaded) && !stop.stop_requested()) {
      BoardLock lock(pipeline.board());
      CUZK_RETURN_IF_ERROR(impl_->Working());
    }
    CUZK_RETURN_IF_ERROR(loaded);
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
