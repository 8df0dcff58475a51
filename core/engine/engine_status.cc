// Status, and parameters that are loaded and dropped by name.

#include <algorithm>
#include <utility>

#include "core/engine/engine.h"
#include "core/engine/engine_impl.h"

namespace cuzk::engine {
namespace {

/// Ended jobs are shown for so long.
constexpr std::chrono::seconds kShowEnded{30};

}  // namespace

JobStatus StatusOfJob(const Reports& reports, Job& job, TimePoint now, uint32_t place) {
  JobStatus out{.progress = reports.ProgressOf(job), .priority = job.priority, .circuit = job.circuit};
  out.place = place;
  out.progress.jobs_before = JobsBefore(place);
  out.subject = job.subject;
  if (job.deadline && !Over(job)) out.deadline_seconds = Seconds(*job.deadline - now);
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

namespace {

/// Partitions that hold the parameters of the job's circuit: from their admission until their proof is put together.
uint32_t UsersOfParameters(const Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) {
  return static_cast<uint32_t>(
      std::count_if(job.partitions.begin(), job.partitions.end(), [](const PartitionRecord& partition) {
        return !partition.proof && partition.state != PartitionState::kPending &&
               partition.state != PartitionState::kFailed;
      }));
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

namespace {

void DescribeJobs(EngineState& state, const Reports& reports, TimePoint now, EngineStatus* out)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) {
  const std::map<uint64_t, uint32_t> places = PlacesOf(state.jobs);
  std::vector<JobStatus> ended;
  for (const auto& [key, job] : state.jobs.jobs()) {
    if (HasEnded(job->life.now())) {
      if (now - *job->finished <= kShowEnded) ended.push_back(StatusOfJob(reports, *job, now, 0));
      continue;
    }
    const uint32_t place = PlaceIn(places, *job);
    out->jobs.push_back(StatusOfJob(reports, *job, now, place));
    KindStatus& kind = out->kinds[job->facts.kind];
    (place > 0 ? kind.pending : kind.in_progress)++;
    if (uint32_t users = UsersOfParameters(*job)) out->parameter_users[job->circuit] += users;
  }
  for (JobStatus& job : ended) out->jobs.push_back(std::move(job));
}

}  // namespace

EngineStatus Engine::Snapshot() const {
  EngineStatus out;
  Pipeline& pipeline = impl_->pipeline;
  EngineState& state = pipeline.state();
  out.not_ready = std::string(Ready().message());
  out.uptime_seconds = Seconds(std::chrono::steady_clock::now() - impl_->started);
  out.budget = impl_->parts.budget->Snapshot();
  out.parameters = impl_->parameters->Snapshot();
  out.synthesis_threads = pipeline.synthesis_threads();
  const TimePoint now = impl_->Now();
  {
    StateLock lock(state, Actor::kCaller);
    out.kinds = state.kinds;
    out.counters = state.counters;
    out.counters.history_lost_total = state.history.lost_total();
    if (auto asked = impl_->StoreAsked()) out.store_wait_seconds = std::max(0.0, Seconds(now - *asked));
    for (const ErrorNote& error : state.last_errors) out.last_errors.push_back({error.text, Seconds(now - error.when)});
    out.results_kept = state.jobs.ended();
    out.synthesis_active = out.synthesis_threads - std::min(out.synthesis_threads, pipeline.idle_synthesis_threads());
    for (const auto& device : pipeline.devices()) out.devices.push_back(device->Describe(now));
    DescribeJobs(state, pipeline.reports(), now, &out);
  }
  for (size_t i = 0; i < out.devices.size(); ++i) out.devices[i].pool = pipeline.devices()[i]->pool().Snapshot();
  return out;
}

std::vector<prover::ParameterStatus> Engine::ParameterStates() const { return impl_->parameters->Snapshot(); }

Status Engine::Impl::LoadEverywhere(const filecoin::Circuit& circuit, const std::vector<DeviceStage*>& devices,
                                    const std::stop_token& stop) {
  CUZK_ASSIGN_OR_RETURN(auto shape, pipeline.circuits().ShapeOf(circuit, Actor::kCaller));
  // Whichever comes first: the caller's stop, or the engine's.
  std::stop_source either;
  std::stop_callback by_caller(stop, [&] { either.request_stop(); });
  std::stop_callback by_engine(state().loading.get_token(), [&] { either.request_stop(); });
  for (DeviceStage* device : devices) {
    unsigned begun = 0;
    {
      StateLock lock(state(), Actor::kCaller);
      begun = pipeline.circuits().BeginLoad(device->number());
    }
    Status loaded =
        either.stop_requested()
            ? absl::CancelledError("cancelled before parameters were loaded")
            : parameters->Get(device->device(), {circuit, shape, UrgencyOf(Priority::kNormal)}, either.get_token(), {})
                  .status();
    StateLock lock(state(), Actor::kCaller);
    pipeline.circuits().EndLoad(device->number(), begun);
    if (absl::IsCancelled(loaded) && !stop.stop_requested()) CUZK_RETURN_IF_ERROR(Working());
    CUZK_RETURN_IF_ERROR(loaded);
  }
  return absl::OkStatus();
}

StatusOr<PreloadResult> Engine::Preload(const std::string& circuit_id, std::stop_token stop) {
  const filecoin::Circuit* circuit = filecoin::FindCircuit(circuit_id);
  if (circuit == nullptr) return absl::InvalidArgumentError(StrCat("there is no circuit ", circuit_id));
  CUZK_RETURN_IF_ERROR(impl_->IsTaken(circuit->kind));
  const TimePoint begin = std::chrono::steady_clock::now();
  Passage passage;
  std::vector<DeviceStage*> devices;
  {
    StateLock lock(impl_->state(), Actor::kCaller);
    CUZK_RETURN_IF_ERROR(impl_->Working());
    passage = Passage(impl_->state(), impl_->state().loads);
    for (const auto& device : impl_->pipeline.devices()) {
      const bool takes = Takes(impl_->parts, device->number(), circuit->kind);
      if (takes && device->service().works()) devices.push_back(device.get());
    }
  }
  size_t ready = 0;
  for (const prover::ParameterStatus& status : impl_->parameters->Snapshot()) {
    // What a device has that gets no work helps nobody.
    const bool works =
        std::ranges::any_of(devices, [&](const DeviceStage* d) { return &d->device() == status.device; });
    ready += works && status.circuit == circuit_id && status.state == prover::ParameterStatus::State::kReady;
  }
  if (ready >= devices.size()) return PreloadResult{.already_loaded = true};
  if (!impl_->parameters->Available(*circuit)) return impl_->parameters->Missing(*circuit);
  CUZK_RETURN_IF_ERROR(impl_->LoadEverywhere(*circuit, devices, stop));
  return PreloadResult{.load_time_ms = Milliseconds(std::chrono::steady_clock::now() - begin)};
}

StatusOr<DeviceStatus> Engine::SetDevice(const std::string& name, bool enabled) {
  EngineState& state = impl_->state();
  Quarantine& quarantine = impl_->pipeline.quarantine();
  DeviceStage* device = nullptr;
  std::string known;
  for (const auto& stage : impl_->pipeline.devices()) {
    const prover::Device& candidate = stage->device();
    const std::string uuid = candidate.identity().uuid;
    const std::string number = candidate.ordinal() < 0 ? "cpu" : StrCat(candidate.ordinal());
    known += StrCat(known.empty() ? "" : ", ", number, uuid.empty() ? "" : StrCat(" (", uuid, ")"));
    if (name == number || (!uuid.empty() && name == uuid)) device = stage.get();
  }
  if (device == nullptr) return absl::NotFoundError(StrCat("there is no device ", name, "; there are ", known));
  bool test = false, out = false;
  {
    StateLock lock(state, Actor::kCaller);
    if (!enabled) CUZK_RETURN_IF_ERROR(quarantine.Disable(lock, *device));
    test = enabled && device->service().now != DeviceService::kWorks;
    if (test) {
      CUZK_RETURN_IF_ERROR(quarantine.MayTest(*device));
      quarantine.BeginTest(*device);
      out = !device->service().works();
    }
  }
  Status passed;
  if (test) {
    // What it has in its memory may be wrong as well, and may leave no room for the test.
    if (out) impl_->parameters->Forget(device->device());
    passed = device->device().health();
    if (passed.ok() && impl_->parts.self_test) passed = impl_->parts.self_test(device->device());
    passed = Annotate(passed, "the self-test");
  }
  StateLock lock(state, Actor::kCaller);
  if (test) quarantine.EndTest(lock, *device, passed);
  CUZK_RETURN_IF_ERROR(passed);
  return device->Describe(impl_->Now());
}

void Engine::DoubtDevice(size_t device, const std::string& why) {
  StateLock lock(impl_->state(), Actor::kCaller);
  impl_->pipeline.quarantine().Doubt(lock, *impl_->pipeline.devices().at(device), why);
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
