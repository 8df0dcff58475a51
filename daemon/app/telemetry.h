#pragma once
// Makes log lines and metrics of the engine's events.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/base/metrics/metrics.h"
#include "core/base/mutex.h"
#include "core/engine/engine.h"

namespace cuzk::daemon {

/// Thread-safe. Logger and metrics must outlive it.
class Telemetry : public engine::Observer {
 public:
  Telemetry(Logger& log, Metrics& metrics) : log_(log), metrics_(metrics) {}

  void OnStage(filecoin::Kind kind, engine::Stage stage, double seconds) override;
  void OnAccepted(const engine::JobTicket& ticket, filecoin::Kind kind, uint64_t payload_bytes) override;
  void OnRecovered(size_t unfinished, size_t results) override;
  void OnJob(const engine::JobResult& result, double seconds) override;
  void OnWarning(const std::string& text) override;

  /// Where the loaded parameters can be seen, once there is an engine. Called for every partition, so that it must not
  /// look at the jobs. Jobs that survived a restart may be loading theirs already; what they loaded is reported here.
  void set_parameters(std::function<std::vector<prover::ParameterStatus>()> parameters);

 private:
  /// Says once for each circuit that its parameters are for development.
  void ReportDevelopment();

  Logger& log_;
  Metrics& metrics_;
  Mutex mutex_;
  std::function<std::vector<prover::ParameterStatus>()> parameters_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> reported_ ABSL_GUARDED_BY(mutex_);  // circuits
};

/// Brings every metric that is a picture of the engine up to date; called before a scrape is answered.
void PublishStatus(const engine::EngineStatus& status, Metrics& metrics);
/// Both of the above sources and the process, as Prometheus text. Any number of threads; waits for no device and for no
/// lock that is held while proving.
std::string MetricsText(const engine::EngineStatus& status, Metrics& metrics);

}  // namespace cuzk::daemon
