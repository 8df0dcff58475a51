#include "daemon/status_json.h"

#include "core/filecoin/registry.h"
#include "daemon/json_writer.h"

namespace cuzk::daemon {
namespace {

constexpr double kKeepEndedSeconds = 30;

template <class T>
void OptionalMember(JsonWriter& json, std::string_view name, const std::optional<T>& value) {
  json.Key(name);
  if (value) {
    json.Value(*value);
  } else {
    json.Null();
  }
}

void WriteJob(JsonWriter& json, const engine::JobStatus& job) {
  json.BeginObject()
      .Member("job_id", job.progress.job_id)
      .Member("proof_kind", filecoin::KindInfo(job.progress.kind).message_name)
      .Member("started_secs_ago", job.started_seconds_ago.value_or(job.submitted_seconds_ago))
      .Member("total_partitions", job.progress.partitions_total)
      .Member("partitions_done", job.progress.partitions_done)
      .Member("state", engine::JobStateName(job.progress.state))
      .Member("stage", engine::StageName(job.progress.stage))
      .Member("circuit_id", job.circuit)
      .Member("message", job.progress.message)
      .Member("fraction", job.progress.fraction);
  OptionalMember(json, "secs_left", job.progress.seconds_left);
  json.Key("partitions").BeginArray();
  for (const engine::PartitionStatus& partition : job.partitions) {
    json.BeginObject().Member("index", partition.index).Member("state", engine::PartitionStateName(partition.state));
    OptionalMember(json, "synth_ms", partition.synthesis_ms);
    OptionalMember(json, "gpu_ms", partition.device_ms);
    json.EndObject();
  }
  json.EndArray().EndObject();
}

void WriteWorkers(JsonWriter& json, const engine::EngineStatus& status) {
  json.Key("gpu_workers").BeginArray();
  unsigned id = 0;
  for (size_t d = 0; d < status.devices.size(); ++d) {
    const engine::DeviceStatus& device = status.devices[d];
    for (const engine::WorkerStatus& worker : device.workers) {
      bool busy = worker.job_key.has_value();
      json.BeginObject()
          .Member("worker_id", id++)
          .Member("gpu_ordinal", device.ordinal >= 0 ? static_cast<uint64_t>(device.ordinal) : d)
          .Member("gpu_name", device.name)
          .Member("state", busy ? "proving" : "idle");
      OptionalMember(json, "current_job", busy ? std::optional(worker.job_id) : std::nullopt);
      OptionalMember(json, "current_partition", busy ? std::optional(worker.partition) : std::nullopt);
      OptionalMember(json, "busy_secs", busy ? std::optional(worker.busy_seconds) : std::nullopt);
      json.EndObject();
    }
  }
  json.EndArray();
}

void WriteAllocations(JsonWriter& json, const engine::EngineStatus& status) {
  json.Key("allocations").BeginObject().Key("srs").BeginArray();
  for (const prover::ParameterStatus& parameters : status.parameters) {
    json.BeginObject()
        .Member("circuit_id", parameters.circuit)
        .Member("bytes", parameters.host_bytes + parameters.device_bytes)
        .Member("last_used_secs_ago", 0)
        .Member("evictable", !parameters.in_use)
        .Member("ready", parameters.state == prover::ParameterStatus::State::kReady)
        .Member("fraction", parameters.fraction)
        .Member("development", parameters.development)
        .EndObject();
  }
  json.EndArray().Key("pce").BeginArray().EndArray().EndObject();
}

void WriteCounters(JsonWriter& json, const engine::EngineStatus& status) {
  uint64_t completed = 0, failed = 0, pending = 0;
  for (const auto& [kind, counts] : status.kinds) {
    completed += counts.completed_total;
    failed += counts.failed_total;
    pending += counts.pending;
  }
  json.Key("counters").BeginObject().Member("total_completed", completed).Member("total_failed", failed);
  json.Key("completed_by_kind").BeginObject();
  for (const auto& [kind, counts] : status.kinds) {
    json.Member(filecoin::KindInfo(kind).message_name, counts.completed_total);
  }
  json.EndObject().Key("failed_by_kind").BeginObject();
  for (const auto& [kind, counts] : status.kinds) {
    json.Member(filecoin::KindInfo(kind).message_name, counts.failed_total);
  }
  json.EndObject().Member("queue_depth", pending).EndObject();
}

void WriteBuffers(JsonWriter& json, const engine::EngineStatus& status) {
  uint64_t proving = 0, waiting = 0, leased = 0;
  for (const engine::DeviceStatus& device : status.devices) {
    for (const engine::WorkerStatus& worker : device.workers) proving += worker.job_key ? 1 : 0;
    waiting += device.queued;
    leased += device.pool.used_slabs;
  }
  json.Key("buffers")
      .BeginObject()
      .Member("synth_in_flight", status.synthesis_active)
      .Member("provers_in_flight", proving)
      .Member("aux_in_flight", leased)
      .Member("shells_in_flight", 0)
      .Member("pending_handles", waiting)
      .EndObject();
}

}  // namespace

std::string StatusJson(const engine::EngineStatus& status) {
  const memory::BudgetSnapshot& budget = status.budget;
  JsonWriter json;
  json.BeginObject().Member("uptime_secs", status.uptime_seconds);
  json.Key("memory")
      .BeginObject()
      .Member("total_bytes", budget.limit_bytes)
      .Member("used_bytes", budget.used_bytes)
      .Member("available_bytes", budget.limit_bytes - budget.used_bytes)
      .EndObject();
  json.Key("synthesis")
      .BeginObject()
      .Member("max_concurrent", status.synthesis_threads)
      .Member("active", status.synthesis_active)
      .EndObject();
  json.Key("pipelines").BeginArray();
  for (const engine::JobStatus& job : status.jobs) {
    if (job.finished_seconds_ago.value_or(0) <= kKeepEndedSeconds) WriteJob(json, job);
  }
  json.EndArray();
  WriteWorkers(json, status);
  WriteAllocations(json, status);
  WriteCounters(json, status);
  WriteBuffers(json, status);
  json.Member("ready", status.not_ready.empty()).Member("not_ready_reason", status.not_ready);
  json.Key("last_errors").BeginArray();
  for (const engine::ErrorStatus& error : status.last_errors) json.Value(error.text);
  json.EndArray().EndObject();
  return json.text();
}

}  // namespace cuzk::daemon
