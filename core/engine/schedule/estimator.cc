#include "core/engine/schedule/estimator.h"

#include <algorithm>

namespace cuzk::engine {
namespace {

/// Weight of the latest measurement in the moving average.
constexpr double kLatest = 0.3;

/// Proportions before anything was measured.
double Typical(Stage stage) {
  switch (stage) {
    case Stage::kParsing:
      return 1;
    case Stage::kLoadingParameters:
      return 10;
    case Stage::kSynthesis:
      return 2;
    case Stage::kDevice:
      return 10;
    case Stage::kFinishing:
      return 0.05;
    case Stage::kVerifying:
      return 0.2;
    case Stage::kQueued:
    case Stage::kWaitingDevice:
      break;
  }
  return 0;
}

}  // namespace

void Estimator::Measured(const std::string& circuit, Stage stage, double seconds) {
  auto& average = measured_[circuit][static_cast<size_t>(stage)];
  average = average ? *average * (1 - kLatest) + seconds * kLatest : seconds;
}

const Estimator::Averages* Estimator::Find(const std::string& circuit) const {
  auto it = measured_.find(circuit);
  return it == measured_.end() ? nullptr : &it->second;
}

double Estimator::Expected(const Averages* seconds, Stage stage) const {
  if (seconds != nullptr && (*seconds)[static_cast<size_t>(stage)]) return *(*seconds)[static_cast<size_t>(stage)];
  return Typical(stage);
}

Estimator::Work Estimator::WorkOf(const Job& job) const {
  const Averages* seconds = Find(job.circuit);
  Work work;
  auto add = [&](Stage stage, double fraction) {
    const double all = Expected(seconds, stage);
    work.done += all * fraction;
    work.left += all * (1 - fraction);
  };
  bool parsed = job.partitions_total > 0;
  add(Stage::kParsing, parsed ? 1 : 0);
  bool began = false;
  uint32_t partitions = std::max<uint32_t>(job.partitions_total, 1);
  for (uint32_t i = 0; i < partitions; ++i) {
    static const PartitionRecord kUntouched;
    const PartitionRecord& partition = i < job.partitions.size() ? job.partitions[i] : kUntouched;
    bool synthesized = partition.state >= PartitionState::kSynthDone;
    bool done = partition.state >= PartitionState::kDone;
    began = began || partition.state != PartitionState::kPending;
    add(Stage::kSynthesis, synthesized ? 1 : 0);
    add(Stage::kDevice, done ? 1 : partition.device_fraction);
    add(Stage::kFinishing, done ? 1 : 0);
  }
  // Loading counts only when the job waits for it; otherwise the parameters are there.
  if (job.life.Is(Life::kLoading) && !began) add(Stage::kLoadingParameters, job.load_fraction);
  add(Stage::kVerifying, 0);
  return work;
}

double Estimator::Fraction(const Job& job) const {
  const JobState state = StateOf(job);
  if (state == JobState::kQueued) return 0;
  if (state == JobState::kCompleted) return 1;
  Work work = WorkOf(job);
  double all = work.done + work.left;
  return all > 0 ? std::clamp(work.done / all, 0.0, 1.0) : 0;
}

std::optional<double> Estimator::Seconds(const std::string& circuit, Stage stage) const {
  const Averages* averages = Find(circuit);
  return averages == nullptr ? std::nullopt : (*averages)[static_cast<size_t>(stage)];
}

}  // namespace cuzk::engine
