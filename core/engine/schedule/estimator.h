#pragma once
// The progress of a job, and how long the stages of its circuit took before.

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
  /// kDevice, kFinishing) of that circuit took; of kDevice, for how long it kept the device from others.
  void Measured(const std::string& circuit, Stage stage, double seconds);

  /// The share of a job's work that is done, 0 to 1, weighted by the expected seconds of each stage, or by typical
  /// proportions before anything was measured.
  double Fraction(const Job& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// What the stage takes for the circuit, of the latest measurements; nothing before the first.
  std::optional<double> Seconds(const std::string& circuit, Stage stage) const;

 private:
  struct Work {
    double done = 0, left = 0;
  };
  using Averages = std::array<std::optional<double>, kStageCount>;
  double Expected(const Averages* averages, Stage stage) const;
  Work WorkOf(const Job& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  const Averages* Find(const std::string& circuit) const;

  std::map<std::string, Averages> measured_;  // by circuit id: moving averages
};

}  // namespace cuzk::engine
