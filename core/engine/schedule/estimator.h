#pragma once
// The progress of a job and its remaining time, estimated from how long the stages of its circuit took before.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/engine/jobs/job_record.h"

namespace cuzk::engine {

class Estimator {
 public:
  /// Records how long a stage of one job (kParsing, kLoadingParameters, kVerifying) or of one partition (kSynthesis,
  /// kDevice, kFinishing) of that circuit took.
  void Measured(const std::string& circuit, Stage stage, double seconds);

  /// The share of a job's work that is done, 0 to 1, weighted by the expected seconds of each stage, or by typical
  /// proportions before anything was measured.
  double Fraction(const Job& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Nothing before the circuit's synthesis and device stages were measured. `lanes` is the number of partitions that
  /// proceed in parallel.
  std::optional<double> SecondsLeft(const Job& job, unsigned lanes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

 private:
  struct Work {
    double done = 0, left_serial = 0, left_parallel = 0;
  };
  using Seconds = std::array<std::optional<double>, kStageCount>;
  double Expected(const Seconds* seconds, Stage stage) const;
  Work WorkOf(const Job& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  const Seconds* Find(const std::string& circuit) const;

  std::map<std::string, Seconds> measured_;  // by circuit id: moving averages
};

}  // namespace cuzk::engine
