#include "daemon/http/status_json.h"

#include <algorithm>
#include <map>

#include "core/filecoin/types/registry.h"
#include "daemon/common/json_writer.h"
#include "daemon/common/version.h"

namespace cuzk::daemon {
namespace {

template <class T>
void OptionalMember(JsonWriter& json, std::string_view name, const std::optional<T>& value) {
  json.Key(name);
  if (value) {
    json.Value(*value);
  } else {
    json.Null();
  }
}

std::string_view PriorityName(engine::Priority priority) {
  switch (priority) {
    case engine::Priority::kLow:
      return "low";
    case engine::Priority::kNormal:
      return "normal";
    case engine::Priority::kHigh:
      return "high";
    case engine::Priority::kCritical:
      return "critical";
  }
  return "";
}

void WriteJob(JsonWriter& json, const engine::JobStatus& job) {
  json.BeginObject()
      .Member("job_id", job.progress.job_id)
      .Member("key", job.progress.key)
      .Member("proof_kind", filecoin::KindInfo(job.progress.kind).message_name)
      .Member("kind", filecoin::KindInfo(job.progress.kind).name)
      .Member("miner_id", job.subject.miner)
      .Member("sector_number", job.subject.sector)
      .Member("partition_index", job.subject.partition)
      .Member("place", job.place)
      .Member("started_secs_ago", job.started_seconds_ago.value_or(job.submitted_seconds_ago))
      .Member("submitted_secs_ago", job.submitted_seconds_ago)
      .Member("total_partitions", job.progress.partitions_total)
      .Member("partitions_done", job.progress.partitions_done)
      .Member("priority", PriorityName(job.priority))
      .Member("state", engine::JobStateName(job.progress.state))
      .Member("stage", engine::StageName(job.progress.stage))
      .Member("circuit_id", job.circuit)
      .Member("message", job.progress.message)
      .Member("fraction", job.progress.fraction);
  OptionalMember(json, "secs_left", job.progress.seconds_left);
  OptionalMember(json, "deadline_secs", job.deadline_seconds);
  json.Member("jobs_before", job.progress.jobs_before);
  OptionalMember(json, "finished_secs_ago", job.finished_seconds_ago);
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
          .Member("track", StrCat("device ", d, " worker ", worker.worker))
          .Member("critical_only", worker.critical_only)
          .Member("state", busy ? "proving" : "idle");
      OptionalMember(json, "current_job", busy ? std::optional(worker.job_id) : std::nullopt);
      OptionalMember(json, "current_partition", busy ? std::optional(worker.partition) : std::nullopt);
      json.Key("current_kind");
      busy ? json.Value(filecoin::KindInfo(worker.kind).message_name) : json.Null();
      OptionalMember(json, "busy_secs", busy ? std::optional(worker.busy_seconds) : std::nullopt);
      json.EndObject();
    }
  }
  json.EndArray();
}

/// null where the driver's library knows nothing of the card.
void WriteCard(JsonWriter& json, const std::string& uuid, const std::vector<CardReading>& cards) {
  json.Key("card");
  const auto card = std::find_if(cards.begin(), cards.end(), [&](const auto& reading) { return reading.uuid == uuid; });
  if (uuid.empty() || card == cards.end()) {
    json.Null();
    return;
  }
  json.BeginObject();
  OptionalMember(json, "temperature_celsius", card->temperature_celsius);
  OptionalMember(json, "power_watts", card->power_watts);
  OptionalMember(json, "power_limit_watts", card->power_limit_watts);
  OptionalMember(json, "sm_clock_mhz", card->sm_clock_mhz);
  OptionalMember(json, "memory_clock_mhz", card->memory_clock_mhz);
  OptionalMember(json, "pcie_sent_bytes_per_sec", card->pcie_sent_bytes_per_second);
  OptionalMember(json, "pcie_received_bytes_per_sec", card->pcie_received_bytes_per_second);
  OptionalMember(json, "pcie_generation", card->pcie_generation);
  OptionalMember(json, "pcie_width", card->pcie_width);
  json.EndObject();
}

void WriteDevices(JsonWriter& json, const engine::EngineStatus& status, const MachineFacts& machine) {
  json.Key("devices").BeginArray();
  for (const engine::DeviceStatus& device : status.devices) {
    json.BeginObject().Member("name", device.name);
    OptionalMember(json, "gpu_ordinal", device.ordinal >= 0 ? std::optional(device.ordinal) : std::nullopt);
    json.Member("uuid", device.identity.uuid)
        .Member("healthy", device.lost.empty())
        .Member("lost_reason", device.lost)
        .Member("service", engine::DeviceServiceName(device.service))
        .Member("service_reason", device.service_reason)
        .Member("service_secs_ago", device.service_seconds_ago)
        .Member("memory_total_bytes", device.memory.total)
        .Member("memory_free_bytes", device.memory.free)
        .Member("memory_seen_secs_ago", device.memory_seconds_ago)
        .Member("busy_secs_total", device.busy_seconds_total)
        .Member("busy_share", device.busy_share)
        .Member("partitions_total", device.partitions_total)
        .Member("queued", device.queued)
        .Member("pool_total_bytes", device.pool.total_bytes)
        .Member("pool_used_bytes", device.pool.used_bytes)
        .Member("pool_buffers", device.pool.slabs)
        .Member("pool_used_buffers", device.pool.used_slabs);
    WriteCard(json, device.identity.uuid, machine.cards);
    json.EndObject();
  }
  json.EndArray();
}

// One entry a circuit, whatever the number of devices.
struct CircuitAllocation {
  uint64_t bytes = 0;
  double last_used_seconds_ago = 0, fraction = 0;
  bool in_use = false, ready = false, development = false;
  uint32_t devices = 0;
};

std::map<std::string, CircuitAllocation> AllocationsOf(const engine::EngineStatus& status) {
  std::map<std::string, CircuitAllocation> circuits;
  for (const prover::ParameterStatus& parameters : status.parameters) {
    CircuitAllocation& circuit = circuits[parameters.circuit];
    const double last_used = parameters.last_used_seconds_ago;
    circuit.last_used_seconds_ago =
        circuit.devices == 0 ? last_used : std::min(circuit.last_used_seconds_ago, last_used);
    circuit.bytes += parameters.host_bytes + parameters.device_bytes;
    circuit.fraction = std::max(circuit.fraction, parameters.fraction);
    circuit.in_use = circuit.in_use || parameters.in_use;
    circuit.ready = circuit.ready || parameters.state == prover::ParameterStatus::State::kReady;
    circuit.development = circuit.development || parameters.development;
    ++circuit.devices;
  }
  return circuits;
}

void WriteAllocations(JsonWriter& json, const engine::EngineStatus& status) {
  json.Key("allocations").BeginObject().Key("srs").BeginArray();
  for (const auto& [id, circuit] : AllocationsOf(status)) {
    json.BeginObject()
        .Member("circuit_id", id)
        .Member("bytes", circuit.bytes)
        .Member("last_used_secs_ago", circuit.last_used_seconds_ago)
        .Member("evictable", circuit.ready && !circuit.in_use)
        .Member("ref_count", status.ParameterReferences(id))
        .Member("devices", circuit.devices)
        .Member("ready", circuit.ready)
        .Member("fraction", circuit.fraction)
        .Member("development", circuit.development)
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
  json.EndObject().Key("cancelled_by_kind").BeginObject();
  for (const auto& [kind, counts] : status.kinds) {
    json.Member(filecoin::KindInfo(kind).message_name, counts.cancelled_total);
  }
  json.EndObject().Key("pending_by_kind").BeginObject();
  for (const auto& [kind, counts] : status.kinds) {
    json.Member(filecoin::KindInfo(kind).message_name, counts.pending);
  }
  json.EndObject().Key("in_progress_by_kind").BeginObject();
  for (const auto& [kind, counts] : status.kinds) {
    json.Member(filecoin::KindInfo(kind).message_name, counts.in_progress);
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

std::string StatusJson(const engine::EngineStatus& status, const MachineFacts& machine) {
  const memory::BudgetSnapshot& budget = status.budget;
  JsonWriter json;
  json.BeginObject().Member("uptime_secs", status.uptime_seconds).Member("host", machine.host);
  json.Member("version", Build().version).Member("revision", Build().revision);
  json.Key("memory")
      .BeginObject()
      .Member("total_bytes", budget.limit_bytes)
      .Member("used_bytes", budget.used_bytes)
      .Member("available_bytes", budget.limit_bytes - budget.used_bytes)
      .Member("peak_bytes", budget.peak_bytes)
      .Key("used_by_class")
      .BeginObject();
  for (size_t i = 0; i < memory::kMemoryClassCount; ++i) {
    json.Member(memory::MemoryClassName(static_cast<memory::MemoryClass>(i)), budget.used_by_class[i]);
  }
  json.EndObject().EndObject();
  json.Key("synthesis")
      .BeginObject()
      .Member("max_concurrent", status.synthesis_threads)
      .Member("active", status.synthesis_active)
      .EndObject();
  json.Key("pipelines").BeginArray();
  for (const engine::JobStatus& job : status.jobs) WriteJob(json, job);
  json.EndArray();
  WriteWorkers(json, status);
  WriteDevices(json, status, machine);
  WriteAllocations(json, status);
  WriteCounters(json, status);
  WriteBuffers(json, status);
  json.Member("job_store_wait_secs", status.store_wait_seconds);
  json.Member("ready", status.not_ready.empty()).Member("not_ready_reason", status.not_ready);
  json.Key("last_errors").BeginArray();
  for (const engine::ErrorStatus& error : status.last_errors) {
    json.BeginObject().Member("text", error.text).Member("secs_ago", error.seconds_ago).EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

}  // namespace cuzk::daemon
