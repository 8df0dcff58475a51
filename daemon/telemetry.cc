#include "daemon/telemetry.h"

#include <map>
#include <string>

namespace cuzk::daemon {

void Telemetry::OnStage(filecoin::Kind, engine::Stage stage, double seconds) {
  metrics_.Observe(MetricId::kStageDuration, {engine::StageName(stage)}, seconds);
  // Small files load before anybody notices; they are seen when the first partition comes out.
  if (stage == engine::Stage::kLoadingParameters || stage == engine::Stage::kDevice) ReportDevelopment();
}

void Telemetry::set_parameters(std::function<std::vector<prover::ParameterStatus>()> parameters) {
  {
    std::lock_guard lock(mutex_);
    parameters_ = std::move(parameters);
  }
  ReportDevelopment();
}

void Telemetry::ReportDevelopment() {
  std::function<std::vector<prover::ParameterStatus>()> loaded;
  {
    std::lock_guard lock(mutex_);
    loaded = parameters_;
  }
  if (!loaded) return;
  for (const prover::ParameterStatus& parameters : loaded()) {
    if (!parameters.development || parameters.state != prover::ParameterStatus::State::kReady) continue;
    std::lock_guard lock(mutex_);
    if (!reported_.insert(parameters.circuit).second) continue;
    log_.Warning("development parameters loaded: whoever made them can forge proofs",
                 {{"circuit", parameters.circuit}});
  }
}

void Telemetry::OnJob(const engine::JobResult& result, double seconds) {
  const filecoin::KindRow& kind = filecoin::KindInfo(result.kind);
  std::string milliseconds = StrCat(static_cast<uint64_t>(seconds * 1000));
  if (result.state == engine::JobState::kCompleted) {
    metrics_.Observe(MetricId::kProofDuration, {kind.metric_label}, seconds);
    log_.Info("proof verified",
              {{"job_id", result.job_id}, {"kind", std::string(kind.name)}, {"dur_ms", milliseconds}});
    return;
  }
  log_.Warning(
      StrCat("job ", engine::JobStateName(result.state)),
      {{"job_id", result.job_id}, {"kind", std::string(kind.name)}, {"dur_ms", milliseconds}, {"err", result.error}});
}

void Telemetry::OnWarning(const std::string& text) { log_.Warning(text); }

void PublishStatus(const engine::EngineStatus& status, Metrics& metrics) {
  double pending = 0, running = 0, workers = 0, pool_total = 0, pool_used = 0, development = 0;
  for (const auto& [kind, counts] : status.kinds) {
    std::string_view label = filecoin::KindInfo(kind).metric_label;
    metrics.RaiseTo(MetricId::kProofsCompleted, {label}, static_cast<double>(counts.completed_total));
    metrics.RaiseTo(MetricId::kProofsFailed, {label}, static_cast<double>(counts.failed_total));
    metrics.RaiseTo(MetricId::kProofsCancelled, {label}, static_cast<double>(counts.cancelled_total));
    pending += counts.pending;
    running += counts.in_progress;
  }
  for (size_t i = 0; i < status.devices.size(); ++i) {
    const engine::DeviceStatus& device = status.devices[i];
    std::string gpu = device.ordinal < 0 ? std::string("cpu") : StrCat(device.ordinal);
    workers += static_cast<double>(device.workers.size());
    pool_total += static_cast<double>(device.pool.total_bytes);
    pool_used += static_cast<double>(device.pool.used_bytes);
    metrics.Set(MetricId::kDeviceHealthy, {gpu}, device.lost.empty() ? 1 : 0);
    metrics.Set(MetricId::kDeviceMemoryUsed, {gpu}, static_cast<double>(device.memory.total - device.memory.free));
  }
  metrics.Set(MetricId::kQueueDepth, {}, pending);
  metrics.Set(MetricId::kRunningJobs, {}, running);
  metrics.Set(MetricId::kGpuWorkers, {}, workers);
  metrics.Set(MetricId::kPinnedPoolTotal, {}, pool_total);
  metrics.Set(MetricId::kPinnedPoolUsed, {}, pool_used);
  metrics.Set(MetricId::kMemoryBudget, {}, static_cast<double>(status.budget.limit_bytes));
  for (size_t i = 0; i < memory::kMemoryClassCount; ++i) {
    metrics.Set(MetricId::kMemoryUsed, {memory::MemoryClassName(static_cast<memory::MemoryClass>(i))},
                static_cast<double>(status.budget.used_by_class[i]));
  }
  std::map<std::string, double> parameters;
  for (const prover::ParameterStatus& p : status.parameters) {
    if (p.state != prover::ParameterStatus::State::kReady) continue;
    parameters[p.circuit] += static_cast<double>(p.host_bytes + p.device_bytes);
    development += p.development ? 1 : 0;
  }
  metrics.Clear(MetricId::kParametersBytes);
  for (const auto& [circuit, bytes] : parameters) metrics.Set(MetricId::kParametersBytes, {circuit}, bytes);
  metrics.Set(MetricId::kDevelopmentParameters, {}, development);
  metrics.RaiseTo(MetricId::kPartitionsRetried, {}, static_cast<double>(status.counters.retries_total));
  metrics.RaiseTo(MetricId::kProofsRefusedByVerifier, {}, static_cast<double>(status.counters.wrong_proofs_total));
  metrics.Set(MetricId::kUptime, {}, status.uptime_seconds);
}

std::string MetricsText(const engine::Engine& engine, Metrics& metrics) {
  PublishStatus(engine.Snapshot(), metrics);
  UpdateProcessMetrics(metrics);
  return metrics.Text();
}

}  // namespace cuzk::daemon
