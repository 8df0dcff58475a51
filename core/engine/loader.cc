// The loaders of a device: parameters for the jobs that wait for them, the most urgent job first.

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/engine/pipeline.h"

namespace cuzk::engine {

namespace {

std::set<std::string> CircuitsAtHand(const ParameterSource& parameters, const prover::Device& device) {
  std::set<std::string> circuits;
  for (const prover::ParameterStatus& status : parameters.Snapshot()) {
    if (status.device == &device && status.state == prover::ParameterStatus::State::kReady) {
      circuits.insert(status.circuit);
    }
  }
  return circuits;
}

}  // namespace

void Pipeline::RunLoader(DeviceLine& line, Loader loader) {
  for (;;) {
    Passage load;
    const filecoin::Circuit* circuit = nullptr;
    std::stop_source stop(std::nostopstate);
    {
      BoardLock lock(board_);
      Job* job = nullptr;
      board_.loader_wake.wait(lock.get(), [&] {
        return board_.stopping || !line.lost.ok() || (job = NextToLoad(line, loader)) != nullptr;
      });
      if (board_.stopping || !line.lost.ok()) return;
      load = Passage(board_.loads, board_.admission);
      circuit = &job->parsed->circuit();
      LoadedParameters& mine = Desk(*circuit).lines[line.index];
      mine.loading = true;
      mine.stop = stop = std::stop_source();
      for (const auto& [key, other] : board_.jobs.jobs()) {
        if (!other->loading || other->circuit != circuit->id) continue;
        other->message = StrCat("loading parameters of ", circuit->id);
        Publish(*other);
      }
    }
    Load(line, *circuit, stop);
  }
}

Job* Pipeline::NextToLoad(DeviceLine& line, Loader loader) {
  Job* best = nullptr;
  std::optional<std::set<std::string>> at_hand;  // asked for once somebody waits
  for (const auto& [key, job] : board_.jobs.jobs()) {
    if (!job->parsed || (best != nullptr && job->priority <= best->priority)) continue;
    const LoadedParameters& mine = Desk(job->parsed->circuit()).lines[line.index];
    if (mine.loading || !mine.failed.ok() || mine.Lock() != nullptr) continue;
    bool waits = std::any_of(job->partitions.begin(), job->partitions.end(),
                             [](const auto& partition) { return partition.state == PartitionState::kPending; });
    if (!waits) continue;
    if (loader == Loader::kAtHand) {
      if (!at_hand) at_hand = CircuitsAtHand(*parts_.parameters, *line.device);
      if (!at_hand->contains(job->circuit)) continue;
    }
    best = job.get();
  }
  return best;
}

StatusOr<std::shared_ptr<const prover::ResidentParameters>> Pipeline::Fetch(DeviceLine& line,
                                                                            const filecoin::Circuit& circuit,
                                                                            std::stop_token stop) {
  // Recording the circuit takes seconds: not before it is known that there is something to load.
  if (!parts_.parameters->Available(circuit)) return parts_.parameters->Missing(circuit);
  CUZK_ASSIGN_OR_RETURN(auto shape, ShapeOf(circuit));
  Progress progress = [&](uint64_t done, uint64_t total) {
    BoardLock lock(board_);
    for (const auto& [key, job] : board_.jobs.jobs()) {
      if (!job->loading || job->circuit != circuit.id) continue;
      job->load_fraction = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
      Publish(*job);
    }
  };
  return parts_.parameters->Get(*line.device, circuit, shape, std::move(stop), progress);
}

void Pipeline::StopUnwantedLoads(const Job& over) {
  for (const auto& [key, job] : board_.jobs.jobs()) {
    if (key != over.key && !Over(*job) && job->circuit == over.circuit) return;
  }
  for (LoadedParameters& line : board_.circuits.at(over.circuit).lines) {
    if (line.loading) line.stop.request_stop();
  }
}

void Pipeline::Load(DeviceLine& line, const filecoin::Circuit& circuit, std::stop_source stop) {
  TimePoint begin = Now();
  std::stop_callback with_all(stop_.get_token(), [&stop] { stop.request_stop(); });
  auto parameters = Fetch(line, circuit, stop.get_token());
  std::shared_ptr<const groth16::Verifier> verifier;
  if (parameters.ok()) {
    {
      BoardLock lock(board_);
      verifier = Desk(circuit).verifier;
    }
    // The file may have been replaced since: proofs are verified with the key that they are made with.
    const groth16::VerifyingKey& key = (*parameters)->verifying_key();
    if (verifier == nullptr || verifier->key().ToBytes() != key.ToBytes()) {
      groth16::VerifierSeams seams{parts_.engine->seams.batch_answer};
      verifier = std::make_shared<const groth16::Verifier>(key, parts_.engine->arithmetic, std::move(seams));
    }
  }
  TimePoint end = Now();
  parts_.timeline->Add(
      TimelineBar{.track = StrCat("loader ", line.index), .name = "load parameters", .begin = begin, .end = end});
  filecoin::Kind kind = circuit.kind;
  double seconds = std::chrono::duration<double>(end - begin).count();
  // Parameters that were there all the time say nothing about loading.
  bool loaded = parameters.ok() && seconds > 0.05;
  const prover::MemoryInfo memory = line.device->memory();
  {
    BoardLock lock(board_);
    CircuitDesk& desk = Desk(circuit);
    LoadedParameters& mine = desk.lines[line.index];
    mine.loading = false;
    line.memory = memory;
    line.memory_seen = Now();
    if (!parameters.ok()) {
      LoadFailed(lock, line, desk, parameters.status());
    } else if (line.lost.ok()) {
      mine.loaded = *parameters;
      mine.fresh = *parameters;
      desk.verifier = verifier;
      if (loaded) board_.estimator.Measured(circuit.id, Stage::kLoadingParameters, seconds);
      for (const auto& [key, job] : board_.jobs.jobs()) {
        if (!job->loading || job->circuit != circuit.id) continue;
        job->load_fraction = 1;
        job->message.clear();
        Refresh(*job);
        Publish(*job);
      }
    }
    board_.admission.Notify();
  }
  if (loaded && parts_.engine->observer) parts_.engine->observer->OnStage(kind, Stage::kLoadingParameters, seconds);
}

void Pipeline::LoadFailed(BoardLock& lock, DeviceLine& line, CircuitDesk& desk, const Status& status) {
  if (board_.stopping) return;
  if (Status health = line.device->health(); !health.ok()) {
    LoseDevice(lock, line, health);
    return;
  }
  // Nobody wanted them any more; perhaps somebody does again.
  if (absl::IsCancelled(status)) {
    board_.loader_wake.notify_all();
    return;
  }
  desk.lines[line.index].failed = status;
  // While another device may still get them, the jobs go on waiting.
  for (size_t i = 0; i < desk.lines.size(); ++i) {
    if (board_.lines[i]->lost.ok() && desk.lines[i].failed.ok()) return;
  }
  for (LoadedParameters& other : desk.lines) other.failed = absl::OkStatus();
  std::vector<std::shared_ptr<Job>> waiting;
  for (const auto& [key, job] : board_.jobs.jobs()) {
    if (job->loading && job->circuit == desk.circuit->id) waiting.push_back(job);
  }
  for (const auto& job : waiting) End(lock, *job, JobState::kFailed, std::string(status.message()));
}

}  // namespace cuzk::engine
