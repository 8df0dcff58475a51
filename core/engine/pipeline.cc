#include "core/engine/pipeline.h"

#include <algorithm>
#include <utility>

#include "core/engine/intake.h"

namespace cuzk::engine {
namespace {

constexpr size_t kLastErrors = 20;

/// The furthest stage among the partitions that are on their way.
Stage StageOf(const Job& job) {
  if (Over(job)) return job.stage;
  if (!job.started) return Stage::kQueued;
  if (!job.parsed) return Stage::kParsing;
  std::optional<Stage> furthest;
  bool all_proved = !job.partitions.empty();
  for (const PartitionRecord& partition : job.partitions) {
    std::optional<Stage> stage;
    switch (partition.state) {
      case PartitionState::kSynthesizing:
        stage = Stage::kSynthesis;
        break;
      case PartitionState::kSynthDone:
        stage = Stage::kWaitingDevice;
        break;
      case PartitionState::kGpu:
        stage = Stage::kDevice;
        break;
      case PartitionState::kPending:
      case PartitionState::kDone:
      case PartitionState::kFailed:
        break;
    }
    all_proved = all_proved && partition.proof.has_value();
    if (stage && (!furthest || *stage > *furthest)) furthest = stage;
  }
  if (all_proved) return Stage::kVerifying;
  if (furthest) return *furthest;
  if (job.loading) return Stage::kLoadingParameters;
  bool finishing = std::any_of(job.partitions.begin(), job.partitions.end(), [](const auto& partition) {
    return partition.device_fraction >= 1 && !partition.proof;
  });
  return finishing ? Stage::kFinishing : Stage::kQueued;
}

}  // namespace

Pipeline::Pipeline(const PipelineParts& parts)
    : parts_(parts),
      options_(*parts.options),
      budget_(*parts.engine->budget),
      request_limit_(RequestMemoryLimit(options_, budget_)),
      synthesis_threads_(std::max(1u, options_.synthesis_threads)),
      board_(Retention{options_.max_results, options_.result_age}, options_.overtakes) {
  board_.max_job_time = options_.max_job_time;
  for (const filecoin::KindRow& row : filecoin::Kinds()) board_.kinds[row.kind];
  for (prover::Device* device : parts.engine->devices) {
    unsigned index = static_cast<unsigned>(board_.lines.size());
    auto line = std::make_unique<DeviceLine>(index, device, budget_, options_.pinned_bytes_per_device);
    line->workers.resize(std::max(1u, options_.workers_per_device) + 1);  // the last one: CRITICAL alone
    line->memory = device->memory();
    line->memory_seen = Now();
    board_.lines.push_back(std::move(line));
  }
  budget_listener_ = budget_.AddListener([this] { board_.admission.Notify(); });
  for (auto& line : board_.lines) {
    // A small circuit does not wait until a large one is loaded.
    for (Loader loader : {Loader::kAny, Loader::kAny, Loader::kAtHand}) {
      threads_.emplace_back([this, &line = *line, loader] { RunLoader(line, loader); });
    }
    for (unsigned w = 0; w < line->workers.size(); ++w) {
      threads_.emplace_back([this, &line = *line, w] { RunWorker(line, w); });
    }
  }
  for (unsigned t = 0; t < synthesis_threads_; ++t) {
    threads_.emplace_back([this, t] { RunSynthesis(t); });
  }
  threads_.emplace_back([this] { RunFinisher(); });
  threads_.emplace_back([this] { RunAdmission(); });
  if (parts_.store != nullptr) threads_.emplace_back([this] { RunRecorder(); });
}

Pipeline::~Pipeline() {
  {
    BoardLock lock(board_);
    board_.stopping = true;
    StopAll(lock, JobState::kCancelled, "the engine was stopped");
    board_.recorder_wake.notify_all();
    board_.synthesis_wake.notify_all();
    board_.finisher_wake.notify_all();
    board_.loader_wake.notify_all();
    for (auto& line : board_.lines) line->wake.notify_all();
  }
  stop_.request_stop();
  board_.admission.Notify();
  threads_.clear();
  // Tasks that nobody will take up give back their leases before the pools go.
  board_.synthesis.clear();
  board_.finishing.clear();
  for (auto& line : board_.lines) line->queue.clear();
  budget_listener_ = memory::Registration();
}

TimePoint Pipeline::Now() const {
  const auto& now = parts_.engine->seams.now;
  return now ? now() : std::chrono::steady_clock::now();
}

std::optional<TimePoint> Pipeline::WithinLimit(std::optional<TimePoint> deadline, TimePoint submitted) const {
  if (board_.max_job_time.count() == 0) return deadline;
  const TimePoint latest = submitted + board_.max_job_time;
  return deadline ? std::min(*deadline, latest) : latest;
}

void Pipeline::Enter(Job& job) {
  board_.scheduler.Add(job.key, job.priority, job.deadline);
  Refresh(job);
  board_.admission.Notify();
  Publish(job);
}

void Pipeline::Join(Job& job, Priority priority, std::optional<TimePoint> deadline) {
  job.callers++;
  board_.counters.joined_total++;
  if (Over(job)) return;
  priority = std::max(priority, job.priority);
  deadline = deadline && job.deadline ? std::max(deadline, job.deadline) : std::nullopt;
  // How long a job may take counts from its own submission.
  if (deadline) deadline = WithinLimit(deadline, job.submitted);
  if (priority == job.priority && deadline == job.deadline) return;
  job.priority = priority;
  job.deadline = deadline;
  board_.scheduler.Change(job.key, priority, deadline);
  board_.admission.Notify();
  for (auto& line : board_.lines) line->wake.notify_all();
  if (parts_.store == nullptr || job.row == 0) return;
  Write({StoreRecord::What::kChange, nullptr,
         store::StoredJob{.row = job.row, .priority = static_cast<uint8_t>(priority)}});
}

void Pipeline::Refresh(Job& job) {
  if (Over(job)) return;
  uint32_t ready = 0;
  bool loading = false;
  if (!job.started) {
    ready = 1;
  } else if (job.parsed) {
    auto pending = std::count_if(job.partitions.begin(), job.partitions.end(),
                                 [](const auto& partition) { return partition.state == PartitionState::kPending; });
    loading = pending > 0 && !Live(Desk(job.parsed->circuit()));
    if (!loading) ready = static_cast<uint32_t>(pending);
  }
  if (loading && !job.loading) job.load_began = Now();
  if (!loading && job.loading) job.timings.srs_load_ms += Milliseconds(Now() - *job.load_began);
  job.loading = loading;
  if (loading || ready > 0) board_.loader_wake.notify_all();
  board_.scheduler.SetReady(job.key, ready);
}

JobProgress Pipeline::ProgressOf(Job& job) const {
  job.stage = StageOf(job);
  job.fraction = std::max(job.fraction, board_.estimator.Fraction(job));
  uint32_t done = static_cast<uint32_t>(
      std::count_if(job.partitions.begin(), job.partitions.end(), [](const auto& p) { return p.proof.has_value(); }));
  unsigned lanes = 0;
  for (const auto& line : board_.lines) lanes += line->lost.ok();
  return JobProgress{.job_id = job.id,
                     .key = job.key,
                     .kind = job.facts.kind,
                     .state = job.state,
                     .stage = job.stage,
                     .partitions_total = job.partitions_total,
                     .partitions_done = done,
                     .fraction = job.fraction,
                     .seconds_left = board_.estimator.SecondsLeft(job, lanes),
                     .worker = job.worker,
                     .message = job.message};
}

void Pipeline::Publish(Job& job) {
  if (parts_.events->watched()) parts_.events->Publish(ProgressOf(job));
}

void Pipeline::Note(std::string text) {
  board_.last_errors.push_front(ErrorNote{std::move(text), Now()});
  if (board_.last_errors.size() > kLastErrors) board_.last_errors.pop_back();
}

void Pipeline::Warn(BoardLock& lock, std::string text) {
  Note(text);
  if (Observer* observer = parts_.engine->observer) {
    lock.After([observer, text = std::move(text)] { observer->OnWarning(text); });
  }
}

void Pipeline::ReturnPartition(Job& job, uint32_t index) {
  if (Over(job)) return;
  PartitionRecord& partition = job.partitions[index];
  partition.state = PartitionState::kPending;
  partition.device_fraction = 0;
  partition.proof.reset();
  board_.counters.retries_total++;
  Refresh(job);
  board_.admission.Notify();
  Publish(job);
}

void Pipeline::LoseDevice(BoardLock& lock, DeviceLine& line, const Status& why) {
  if (!line.lost.ok()) return;
  line.lost = why;
  board_.counters.devices_lost_total++;
  Warn(lock, StrCat("device ", line.device->name(), " is lost: ", why.message()));
  auto orphans = std::make_shared<std::deque<DeviceTask>>(std::move(line.queue));
  line.queue.clear();
  line.wake.notify_all();
  board_.loader_wake.notify_all();
  auto freed = std::make_shared<std::vector<LoadedParameters>>();
  for (auto& [id, desk] : board_.circuits) {
    freed->push_back(
        std::exchange(desk.lines[line.index], LoadedParameters{.loading = desk.lines[line.index].loading}));
    // What others could not load was left to this one: they try again, or nobody would.
    for (LoadedParameters& other : desk.lines) other.failed = absl::OkStatus();
  }
  for (const DeviceTask& orphan : *orphans) ReturnPartition(*orphan.task.job, orphan.task.index);
  bool healthy = std::any_of(board_.lines.begin(), board_.lines.end(), [](const auto& l) { return l->lost.ok(); });
  if (!healthy) {
    board_.refusing = StrCat("no device is left: ", why.message());
    StopAll(lock, JobState::kFailed, board_.refusing);
  }
  for (const auto& [key, job] : board_.jobs.jobs()) Refresh(*job);
  lock.After([orphans, freed, this, device = line.device]() mutable {
    orphans.reset();
    freed.reset();
    parts_.parameters->Forget(*device);
  });
}

CircuitDesk& Pipeline::Desk(const filecoin::Circuit& circuit) {
  CircuitDesk& desk = board_.circuits[circuit.id];
  if (desk.circuit == nullptr) {
    desk.circuit = &circuit;
    desk.lines.resize(board_.lines.size());
  }
  return desk;
}

bool Pipeline::Live(const CircuitDesk& desk) const {
  for (size_t i = 0; i < desk.lines.size(); ++i) {
    if (board_.lines[i]->lost.ok() && desk.lines[i].Lock() != nullptr) return true;
  }
  return false;
}

StatusOr<std::shared_ptr<const r1cs::Shape>> Pipeline::ShapeOf(const filecoin::Circuit& circuit) {
  std::lock_guard one_at_a_time(shape_mutex_);
  {
    BoardLock lock(board_);
    if (auto shape = Desk(circuit).shape) return shape;
  }
  CUZK_ASSIGN_OR_RETURN(auto shape, parts_.work->MakeShape(circuit));
  uint64_t bytes = r1cs::LeaseLayout::For(*shape, options_.layout).bytes;
  BoardLock lock(board_);
  Desk(circuit).shape = shape;
  Desk(circuit).lease_bytes = bytes;
  return shape;
}

void Pipeline::Draw(const PartitionTask& task, std::string_view name, const std::string& track, TimePoint begin) {
  parts_.timeline->Add(TimelineBar{.track = track,
                                   .name = name,
                                   .begin = begin,
                                   .end = Now(),
                                   .job_key = task.job->key,
                                   .job_id = task.job->id,
                                   .partition = task.index});
}

void Pipeline::Measured(const Job& job, Stage stage, Duration duration) {
  double seconds = std::chrono::duration<double>(duration).count();
  {
    BoardLock lock(board_);
    board_.estimator.Measured(job.circuit, stage, seconds);
  }
  if (Observer* observer = parts_.engine->observer) observer->OnStage(job.facts.kind, stage, seconds);
}

}  // namespace cuzk::engine
