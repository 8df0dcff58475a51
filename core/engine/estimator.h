#pragma once
// How far a job is and how long it will still take, from how long its stages took before.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/engine/job_record.h"

namespace cuzk::engine {

class Estimator {
 public:
  /// A stage of one job (kParsing, kLoadingParameters, kVerifying) or of one partition (kSynthesis, kDevice,
  /// kFinishing) of that circuit took so long.
  void Measured(const std::string& circuit, Stage stage, double seconds);

  /// Done work of all work, 0 to 1, in expected seconds; before anything was measured, in typical proportions.
  double Fraction(const Job& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Nothing before the circuit's synthesis and device stages were measured. `lanes` is how many partitions proceed at
  /// once.
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
