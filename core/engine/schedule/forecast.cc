#include "core/engine/schedule/forecast.h"

#include <algorithm>

namespace cuzk::engine {
namespace {

/// Seconds of work on the two lines that run at the same time.
struct Lines {
  double synthesis = 0, device = 0;
};

class Line {
 public:
  Line(const Estimator& estimator, const Capacity& capacity)
      : estimator_(estimator),
        threads_(std::max(1u, capacity.synthesis_threads)),
        devices_(std::max(1u, capacity.devices)) {}

  /// Puts the job behind those before it, and says when it is done.
  std::optional<double> Add(const Outlook& job) {
    const auto synthesis = estimator_.Seconds(job.circuit, Stage::kSynthesis);
    const auto device = estimator_.Seconds(job.circuit, Stage::kDevice);
    known_ = known_ && synthesis && device;
    if (!known_) return std::nullopt;
    auto seconds = [&](Stage stage) { return estimator_.Seconds(job.circuit, stage).value_or(0); };
    const double parse = job.parsed ? 0 : seconds(Stage::kParsing);
    const double load = job.loading ? seconds(Stage::kLoadingParameters) * (1 - job.loaded) : 0;
    // It begins when its request is parsed and its parameters are there, and those before it are done.
    const double ready = parse + load;
    const double begin_synthesis = std::max(ahead_.synthesis, ready);
    const double begin_device = std::max(ahead_.device, ready);
    const double to_write = job.partitions - job.synthesized, to_prove = job.partitions - job.proved;
    const double written = begin_synthesis + to_write * *synthesis / Parallel(to_write, threads_);
    const double proved = begin_device + to_prove * *device / Parallel(to_prove, devices_);
    // The last witness is written before its partition is computed, and the first one before the device has work.
    const double first = begin_synthesis + (job.synthesized > job.proved ? 0 : *synthesis);
    const double end = std::max({proved, to_write > 0 ? written + *device : 0,
                                 to_write > 0 ? first + to_prove * *device / Parallel(to_prove, devices_) : 0});
    ahead_.synthesis += parse / threads_ + to_write * *synthesis / threads_;
    ahead_.device = std::max(ahead_.device + to_prove * *device / devices_, end - *device);
    return end + seconds(Stage::kFinishing) + seconds(Stage::kVerifying);
  }

 private:
  /// How many of `lanes` so many partitions can use.
  static double Parallel(double partitions, unsigned lanes) {
    return std::clamp<double>(partitions, 1, static_cast<double>(lanes));
  }
  const Estimator& estimator_;
  const unsigned threads_, devices_;
  Lines ahead_;  // until the lines are done with all jobs so far
  bool known_ = true;
};

}  // namespace

Outlook OutlookOf(const Job& job) {
  Outlook outlook{.key = job.key,
                  .priority = job.priority,
                  .circuit = job.circuit,
                  .parsed = job.partitions_total > 0,
                  .loading = job.life.Is(Life::kLoading),
                  .loaded = job.load_fraction,
                  .partitions = std::max(1u, job.partitions_total)};
  if (!outlook.parsed && job.facts.proof != nullptr) {
    if (outlook.circuit.empty()) outlook.circuit = job.facts.proof->circuit->id;
    outlook.partitions = std::max(1u, job.facts.proof->partitions());
  }
  for (const PartitionRecord& partition : job.partitions) {
    const bool done = partition.state >= PartitionState::kDone;
    outlook.synthesized += partition.state >= PartitionState::kSynthDone ? 1 : 0;
    outlook.proved += done ? 1 : partition.device_fraction;
  }
  return outlook;
}

std::map<uint64_t, std::optional<double>> Forecast(std::vector<Outlook> jobs, const Estimator& estimator,
                                                   const Capacity& capacity) {
  std::sort(jobs.begin(), jobs.end(), [](const Outlook& x, const Outlook& y) {
    return x.priority != y.priority ? x.priority > y.priority : x.key < y.key;
  });
  Line line(estimator, capacity);
  std::map<uint64_t, std::optional<double>> seconds_left;
  for (const Outlook& job : jobs) seconds_left[job.key] = line.Add(job);
  return seconds_left;
}

}  // namespace cuzk::engine
