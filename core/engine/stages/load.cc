#include "core/engine/stages/load.h"

#include <optional>
#include <set>
#include <utility>

#include "core/base/thread.h"
#include "core/engine/schedule/policy.h"

namespace cuzk::engine {
namespace {

/// Circuits whose parameters the device has.
std::set<std::string> CircuitsAtHand(const ParameterSource& parameters, const prover::Device& device) {
  std::set<std::string> circuits;
  for (const prover::ParameterStatus& status : parameters.Snapshot()) {
    if (status.device == &device && status.state == prover::ParameterStatus::State::kReady) {
      circuits.insert(status.circuit);
    }
  }
  return circuits;
}

/// A load that took less says nothing about loading: the parameters were on the device.
constexpr double kShortestLoad = 0.05;

}  // namespace

Status LoadStage::Start() {
  // Two load at once, so that a small circuit does not wait until a large one is loaded.
  for (Loads loads : {Loads::kAny, Loads::kAny, Loads::kAtHand, Loads::kHigh, Loads::kCritical}) {
    CUZK_ASSIGN_OR_RETURN(std::jthread thread, StartThread("loading parameters", [this, loads] { Run(loads); }));
    threads_.push_back(std::move(thread));
  }
  return absl::OkStatus();
}

void LoadStage::Run(Loads loads) {
  for (;;) {
    Passage load;
    const filecoin::Circuit* circuit = nullptr;
    Priority priority = Priority::kNormal;
    std::stop_source stop(std::nostopstate);
    unsigned begun = 0;
    {
      StateLock lock(c_.state, Actor::kLoader);
      Job* job = nullptr;
      while (!c_.state.stopping && device_.service().now != DeviceService::kLost && (job = Next(loads)) == nullptr) {
        lock.Wait(c_.state.loads_wanted);
      }
      if (c_.state.stopping || device_.service().now == DeviceService::kLost) return;
      load = Passage(c_.state, c_.state.loads);
      begun = c_.circuits.BeginLoad(device_.number());
      circuit = &job->parsed->circuit();
      priority = job->priority;
      LoadedParameters& mine = Mine(c_.circuits.Of(*circuit));
      mine.loading = true;
      mine.stop = stop = std::stop_source();
      for (const auto& waiting : Waiting(*circuit)) {
        waiting->message = StrCat("loading parameters of ", circuit->id);
        c_.reports.Publish(*waiting);
      }
    }
    Load(*circuit, priority, stop);
    StateLock lock(c_.state, Actor::kLoader);
    c_.circuits.EndLoad(device_.number(), begun);
  }
}

Job* LoadStage::Next(Loads loads) {
  if (!device_.service().works()) return nullptr;
  Job* best = nullptr;
  std::optional<std::set<std::string>> at_hand;  // asked for once a job waits
  for (const auto& [key, job] : c_.state.jobs.jobs()) {
    if (!job->parsed || (best != nullptr && job->priority <= best->priority)) continue;
    if (loads == Loads::kHigh && job->priority < Priority::kHigh) continue;
    if (loads == Loads::kCritical && job->priority < Priority::kCritical) continue;
    if (!Takes(c_.parts, device_.number(), job->facts.kind)) continue;
    const LoadedParameters& mine = Mine(c_.circuits.Of(job->parsed->circuit()));
    if (mine.loading || !mine.failed.ok() || mine.Get() != nullptr || PendingPartitions(*job) == 0) continue;
    if (loads == Loads::kAtHand) {
      if (!at_hand) at_hand = CircuitsAtHand(c_.parameters, device_.device());
      if (!at_hand->contains(job->circuit)) continue;
    }
    best = job.get();
  }
  return best;
}

std::vector<std::shared_ptr<Job>> LoadStage::Waiting(const filecoin::Circuit& circuit) const {
  std::vector<std::shared_ptr<Job>> waiting;
  for (const auto& [key, job] : c_.state.jobs.jobs()) {
    if (job->life.Is(Life::kLoading) && job->circuit == circuit.id) waiting.push_back(job);
  }
  return waiting;
}

StatusOr<Parameters> LoadStage::Fetch(const filecoin::Circuit& circuit, Priority priority, std::stop_token stop) {
  // Recording the circuit takes seconds: not before it is known that there is something to load.
  if (!c_.parameters.Available(circuit)) return c_.parameters.Missing(circuit);
  CUZK_ASSIGN_OR_RETURN(auto shape, c_.circuits.ShapeOf(circuit, Actor::kLoader));
  {
    // Nothing is loaded for jobs that could not be proved afterwards.
    StateLock lock(c_.state, Actor::kLoader);
    CUZK_RETURN_IF_ERROR(c_.circuits.Of(circuit).fits);
  }
  Progress progress = [&](uint64_t done, uint64_t total) {
    StateLock lock(c_.state, Actor::kLoader);
    for (const auto& job : Waiting(circuit)) {
      job->load_fraction = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
      c_.reports.Publish(*job);
    }
  };
  return c_.parameters.Get(device_.device(), {circuit, shape, UrgencyOf(priority)}, std::move(stop), progress);
}

std::shared_ptr<const groth16::Verifier> LoadStage::VerifierOf(const filecoin::Circuit& circuit,
                                                               const Parameters& parameters) {
  std::shared_ptr<const groth16::Verifier> verifier;
  {
    StateLock lock(c_.state, Actor::kLoader);
    verifier = c_.circuits.Of(circuit).verifier;
  }
  // The file may have been replaced since: proofs are verified with the key that they are made with.
  const groth16::VerifyingKey& key = parameters->verifying_key();
  if (verifier != nullptr && verifier->key().ToBytes() == key.ToBytes()) return verifier;
  groth16::VerifierSeams seams{c_.parts.seams.batch_answer};
  return std::make_shared<const groth16::Verifier>(key, c_.parts.arithmetic, std::move(seams));
}

void LoadStage::Load(const filecoin::Circuit& circuit, Priority priority, std::stop_source stop) {
  const TimePoint begin = c_.Now();
  std::stop_callback with_all(c_.state.loading.get_token(), [&stop] { stop.request_stop(); });
  auto parameters = Fetch(circuit, priority, stop.get_token());
  std::shared_ptr<const groth16::Verifier> verifier;
  if (parameters.ok()) verifier = VerifierOf(circuit, *parameters);
  const TimePoint end = c_.Now();
  c_.reports.Draw(
      TimelineBar{.track = StrCat("loader ", device_.number()), .name = "load parameters", .begin = begin, .end = end});
  bool loaded = parameters.ok() && Seconds(end - begin) > kShortestLoad;
  device_.LookAtMemory(Actor::kLoader);
  {
    StateLock lock(c_.state, Actor::kLoader);
    CircuitRecord& record = c_.circuits.Of(circuit);
    Mine(record).loading = false;
    if (!parameters.ok()) {
      Failed(lock, record, parameters.status());
    } else if (device_.service().works()) {
      Loaded(lock, record, *parameters, std::move(verifier));
      if (loaded) c_.state.estimator.Measured(circuit.id, Stage::kLoadingParameters, Seconds(end - begin));
    }
    c_.state.admission.Notify();
    loaded = loaded && !c_.state.stopping;  // an engine that is being destroyed has nothing to report any more
  }
  if (loaded) c_.reports.MeasuredLoad(circuit.kind, Seconds(end - begin));
}

void LoadStage::Loaded(StateLock& lock, CircuitRecord& record, const Parameters& parameters,
                       std::shared_ptr<const groth16::Verifier> verifier) {
  Mine(record).loaded = parameters;
  Mine(record).fresh = parameters;
  record.verifier = std::move(verifier);
  for (const auto& job : Waiting(*record.circuit)) {
    job->load_fraction = 1;
    job->message.clear();
    c_.jobs.Refresh(lock, *job);
    c_.reports.Publish(*job);
  }
}

void LoadStage::Failed(StateLock& lock, CircuitRecord& record, const Status& status) {
  if (c_.state.stopping) return;
  if (Status health = device_.device().health(); !health.ok()) {
    device_.Lose(lock, health);
    return;
  }
  // No job wanted them any more; perhaps one does again.
  if (absl::IsCancelled(status)) {
    c_.state.loads_wanted.NotifyAll();
    return;
  }
  Mine(record).failed = status;
  // While another device may still get them, the jobs go on waiting.
  if (c_.circuits.MayStillLoad(record)) return;
  for (LoadedParameters& other : record.devices) other.failed = absl::OkStatus();
  const JobFailure failure = !record.fits.ok() ? JobFailure::kInput
                             : absl::IsFailedPrecondition(status) || absl::IsInvalidArgument(status)
                                 ? JobFailure::kParameters
                                 : JobFailure::kOther;
  for (const auto& job : Waiting(*record.circuit)) {
    c_.jobs.End(lock, *job, {JobState::kFailed, std::string(status.message()), {}, failure});
  }
}

}  // namespace cuzk::engine
