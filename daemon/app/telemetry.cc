#include "daemon/app/telemetry.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace cuzk::daemon {

void Telemetry::OnStage(filecoin::Kind kind, engine::Stage stage, double seconds) {
  metrics_.Observe(MetricId::kStageDuration, {engine::StageName(stage)}, seconds);
  if (stage == engine::Stage::kLoadingParameters) {
    metrics_.Observe(MetricId::kParametersLoad, {filecoin::KindInfo(kind).metric_label}, seconds);
  }
  // A small file may be loaded between two stages; it is seen when the first partition reaches the device.
  if (stage == engine::Stage::kLoadingParameters || stage == engine::Stage::kDevice) ReportDevelopment();
}

void Telemetry::set_parameters(std::function<std::vector<prover::ParameterStatus>()> parameters) {
  {
    MutexLock lock(mutex_);
    parameters_ = std::move(parameters);
  }
  ReportDevelopment();
}

void Telemetry::ReportDevelopment() {
  std::function<std::vector<prover::ParameterStatus>()> loaded;
  {
    MutexLock lock(mutex_);
    loaded = parameters_;
  }
  if (!loaded) return;
  for (const prover::ParameterStatus& parameters : loaded()) {
    if (!parameters.development || parameters.state != prover::ParameterStatus::State::kReady) continue;
    MutexLock lock(mutex_);
    if (!reported_.insert(parameters.circuit).second) continue;
    log_.Warning("development parameters loaded: their maker can forge proofs", {{"circuit", parameters.circuit}});
  }
}

void Telemetry::OnAccepted(const engine::JobTicket& ticket, filecoin::Kind kind, uint64_t payload_bytes) {
  log_.Info("job accepted", {{"job_id", ticket.job_id},
                             {"kind", std::string(filecoin::KindInfo(kind).name)},
                             {"bytes", StrCat(payload_bytes)},
                             {"queue_position", StrCat(ticket.queue_position)}});
}

void Telemetry::OnRecovered(size_t unfinished, size_t results) {
  log_.Info(StrCat("recovered from the job store: ", unfinished, " unfinished jobs continue, ", results,
                   " results are kept"));
}

void Telemetry::OnJob(const engine::JobResult& result, double seconds) {
  const filecoin::KindRow& kind = filecoin::KindInfo(result.kind);
  std::string milliseconds = StrCat(static_cast<uint64_t>(seconds * 1000));
  if (result.state == engine::JobState::kCompleted) {
    metrics_.Observe(MetricId::kProofDuration, {kind.metric_label}, seconds);
    log_.Info("proof verified", {{"job_id", result.job_id},
                                 {"kind", std::string(kind.name)},
                                 {"dur_ms", milliseconds},
                                 {"queue_ms", StrCat(result.timings.queue_wait_ms)},
                                 {"parse_ms", StrCat(result.spent.parsing_ms)},
                                 {"load_ms", StrCat(result.timings.srs_load_ms)},
                                 {"synthesis_ms", StrCat(result.timings.synthesis_ms)},
                                 {"wait_ms", StrCat(result.spent.waiting_ms)},
                                 {"gpu_ms", StrCat(result.timings.gpu_compute_ms)},
                                 {"verify_ms", StrCat(result.spent.verifying_ms)}});
    return;
  }
  log_.Warning(
      StrCat("job ", engine::JobStateName(result.state)),
      {{"job_id", result.job_id}, {"kind", std::string(kind.name)}, {"dur_ms", milliseconds}, {"err", result.error}});
}

void Telemetry::OnWarning(const std::string& text) { log_.Warning(text); }

namespace {

void PublishKinds(const engine::EngineStatus& status, Metrics& metrics) {
  double pending = 0, running = 0;
  for (const auto& [kind, counts] : status.kinds) {
    std::string_view label = filecoin::KindInfo(kind).metric_label;
    metrics.RaiseTo(MetricId::kProofsCompleted, {label}, static_cast<double>(counts.completed_total));
    metrics.RaiseTo(MetricId::kProofsFailed, {label}, static_cast<double>(counts.failed_total));
    metrics.RaiseTo(MetricId::kProofsCancelled, {label}, static_cast<double>(counts.cancelled_total));
    pending += counts.pending;
    running += counts.in_progress;
    double oldest = 0;
    for (const engine::JobStatus& job : status.jobs) {
      if (job.progress.kind == kind && !job.finished_seconds_ago) oldest = std::max(oldest, job.submitted_seconds_ago);
    }
    metrics.Set(MetricId::kOldestJobAge, {label}, oldest);
  }
  metrics.Set(MetricId::kQueueDepth, {}, pending);
  metrics.Set(MetricId::kRunningJobs, {}, running);
}

void PublishDevice(const engine::DeviceStatus& device, Metrics& metrics) {
  const std::string gpu = device.ordinal < 0 ? std::string("cpu") : StrCat(device.ordinal);
  const prover::DeviceIdentity& identity = device.identity;
  const Metrics::Labels labels = {gpu, identity.uuid};
  metrics.Set(MetricId::kDeviceInfo, {gpu, identity.uuid, device.name, identity.driver, identity.compute_capability},
              1);
  metrics.Set(MetricId::kDeviceHealthy, labels, device.lost.empty() ? 1 : 0);
  metrics.Set(MetricId::kDeviceQuarantined, labels, device.service == engine::DeviceService::kQuarantined ? 1 : 0);
  metrics.Set(MetricId::kDeviceDoubted, labels, device.service == engine::DeviceService::kDoubted ? 1 : 0);
  metrics.Set(MetricId::kDeviceMemoryTotal, labels, static_cast<double>(device.memory.total));
  metrics.Set(MetricId::kDeviceMemoryUsed, labels, static_cast<double>(device.memory.total - device.memory.free));
  metrics.Set(MetricId::kDeviceTelemetryAge, labels, device.memory_seconds_ago);
  metrics.Set(MetricId::kDeviceQueued, labels, device.queued);
  metrics.RaiseTo(MetricId::kDeviceBusy, labels, device.busy_seconds_total);
  metrics.RaiseTo(MetricId::kDevicePartitions, labels, static_cast<double>(device.partitions_total));
  metrics.RaiseTo(MetricId::kDeviceCopied, {gpu, identity.uuid, "to_device"},
                  static_cast<double>(device.copied_to_device_bytes_total));
  for (const auto& [stage, seconds] : device.stage_seconds) {
    if (stage == prover::stage::kHostToDevice) {
      metrics.RaiseTo(MetricId::kDeviceCopy, {gpu, identity.uuid, "to_device"}, seconds);
    }
    if (stage == prover::stage::kDeviceToHost) {
      metrics.RaiseTo(MetricId::kDeviceCopy, {gpu, identity.uuid, "to_host"}, seconds);
    }
    metrics.RaiseTo(MetricId::kDeviceStage, {gpu, identity.uuid, stage}, seconds);
  }
}

void PublishDevices(const engine::EngineStatus& status, Metrics& metrics) {
  double workers = 0, usable = 0;
  memory::PinnedPoolSnapshot pool;
  for (const engine::DeviceStatus& device : status.devices) {
    PublishDevice(device, metrics);
    workers += static_cast<double>(device.workers.size());
    usable += engine::GetsWork(device.service) ? 1 : 0;
    pool.total_bytes += device.pool.total_bytes;
    pool.used_bytes += device.pool.used_bytes;
    pool.leases_total += device.pool.leases_total;
    pool.allocations_total += device.pool.allocations_total;
    pool.allocation_failures_total += device.pool.allocation_failures_total;
  }
  metrics.Set(MetricId::kGpuWorkers, {}, workers);
  metrics.Set(MetricId::kDevicesUsable, {}, usable);
  metrics.Set(MetricId::kPinnedPoolTotal, {}, static_cast<double>(pool.total_bytes));
  metrics.Set(MetricId::kPinnedPoolUsed, {}, static_cast<double>(pool.used_bytes));
  metrics.RaiseTo(MetricId::kPinnedPoolLeases, {}, static_cast<double>(pool.leases_total));
  metrics.RaiseTo(MetricId::kPinnedPoolAllocations, {}, static_cast<double>(pool.allocations_total));
  metrics.RaiseTo(MetricId::kPinnedPoolFailures, {}, static_cast<double>(pool.allocation_failures_total));
}

void PublishMemory(const engine::EngineStatus& status, Metrics& metrics) {
  metrics.Set(MetricId::kMemoryBudget, {}, static_cast<double>(status.budget.limit_bytes));
  metrics.Set(MetricId::kMemoryPeak, {}, static_cast<double>(status.budget.peak_bytes));
  for (size_t i = 0; i < memory::kMemoryClassCount; ++i) {
    std::string_view name = memory::MemoryClassName(static_cast<memory::MemoryClass>(i));
    metrics.Set(MetricId::kMemoryUsed, {name}, static_cast<double>(status.budget.used_by_class[i]));
    metrics.RaiseTo(MetricId::kMemoryRefusals, {name}, static_cast<double>(status.budget.refusals_total[i]));
  }
  std::map<std::string, double> parameters;
  double development = 0;
  for (const prover::ParameterStatus& p : status.parameters) {
    if (p.state != prover::ParameterStatus::State::kReady) continue;
    parameters[p.circuit] += static_cast<double>(p.host_bytes + p.device_bytes);
    development += p.development ? 1 : 0;
  }
  metrics.SetAll(MetricId::kParametersBytes, parameters);
  metrics.Set(MetricId::kDevelopmentParameters, {}, development);
}

void PublishCounters(const engine::EngineCounters& counters, Metrics& metrics) {
  const std::pair<MetricId, uint64_t> totals[] = {
      {MetricId::kJobsSubmitted, counters.submitted_total},
      {MetricId::kJobsJoined, counters.joined_total},
      {MetricId::kJobsRefused, counters.refused_total},
      {MetricId::kSchedulerTurns, counters.scheduler_turns_total},
      {MetricId::kPartitionsProved, counters.partitions_total},
      {MetricId::kPartitionsRetried, counters.retries_total},
      {MetricId::kProofsRefusedByVerifier, counters.wrong_proofs_total},
      {MetricId::kHistoryLost, counters.history_lost_total},
      {MetricId::kStoreErrors, counters.store_errors_total},
      {MetricId::kStoreDamaged, counters.store_damaged_total},
      {MetricId::kVerifierDisagreements, counters.verifier_disagreements_total},
      {MetricId::kDeviceErrors, counters.device_errors_total},
      {MetricId::kDevicesLost, counters.devices_lost_total},
      {MetricId::kQuarantines, counters.quarantines_total},
  };
  for (const auto& [id, total] : totals) metrics.RaiseTo(id, {}, static_cast<double>(total));
}

}  // namespace

void PublishStatus(const engine::EngineStatus& status, Metrics& metrics) {
  PublishKinds(status, metrics);
  PublishDevices(status, metrics);
  PublishMemory(status, metrics);
  PublishCounters(status.counters, metrics);
  metrics.Set(MetricId::kReady, {}, status.not_ready.empty() ? 1 : 0);
  metrics.Set(MetricId::kStoreWait, {}, status.store_wait_seconds);
  metrics.Set(MetricId::kResultsKept, {}, static_cast<double>(status.results_kept));
  metrics.Set(MetricId::kSynthesisThreads, {}, status.synthesis_threads);
  metrics.Set(MetricId::kSynthesisActive, {}, status.synthesis_active);
  metrics.Set(MetricId::kUptime, {}, status.uptime_seconds);
}

std::string MetricsText(const engine::EngineStatus& status, Metrics& metrics) {
  PublishStatus(status, metrics);
  UpdateProcessMetrics(metrics);
  return metrics.Text();
}

}  // namespace cuzk::daemon
