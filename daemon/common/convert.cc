#include "daemon/common/convert.h"

#include <map>
#include <string>
#include <utility>

#include "core/base/check.h"

namespace cuzk::daemon {
namespace {

// gRPC's headers hold 8 KiB together; percent encoding may triple the text.
constexpr size_t kLongestText = 2000;

constexpr size_t kElementBytes = 32;  // of randomness and commitments

std::string Cut(absl::string_view text) {
  if (text.size() <= kLongestText) return std::string(text.data(), text.size());
  return StrCat(text.substr(0, kLongestText), " ...");
}

grpc::StatusCode CodeOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return grpc::StatusCode::OK;
    case absl::StatusCode::kInvalidArgument:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case absl::StatusCode::kResourceExhausted:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kAborted:  // another program has what is needed, such as a lock on the job store
      return grpc::StatusCode::UNAVAILABLE;
    case absl::StatusCode::kFailedPrecondition:
      return grpc::StatusCode::FAILED_PRECONDITION;
    case absl::StatusCode::kNotFound:
      return grpc::StatusCode::NOT_FOUND;
    case absl::StatusCode::kUnimplemented:
      return grpc::StatusCode::UNIMPLEMENTED;
    case absl::StatusCode::kCancelled:
      return grpc::StatusCode::CANCELLED;
    case absl::StatusCode::kDeadlineExceeded:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    default:
      return grpc::StatusCode::INTERNAL;
  }
}

v1::AwaitProofResponse::Status ResultStatus(engine::JobState state) {
  switch (state) {
    case engine::JobState::kCompleted:
      return v1::AwaitProofResponse::COMPLETED;
    case engine::JobState::kFailed:
      return v1::AwaitProofResponse::FAILED;
    case engine::JobState::kCancelled:
      return v1::AwaitProofResponse::CANCELLED;
    case engine::JobState::kQueued:
    case engine::JobState::kRunning:
      break;
  }
  CUZK_CHECK(!"a result is final");
  return v1::AwaitProofResponse::UNKNOWN;
}

v1::SRSStatus::Tier TierOf(const prover::ParameterStatus& parameters) {
  if (parameters.state != prover::ParameterStatus::State::kReady) return v1::SRSStatus::COLD;
  bool on_device = parameters.device_bytes > 0 || parameters.device->ordinal() < 0;
  return on_device ? v1::SRSStatus::HOT : v1::SRSStatus::WARM;
}

void AddDevice(const engine::DeviceStatus& device, size_t index, v1::GetStatusResponse& out) {
  v1::GPUStatus* gpu = out.add_gpus();
  gpu->set_ordinal(device.ordinal >= 0 ? static_cast<uint32_t>(device.ordinal) : static_cast<uint32_t>(index));
  const std::string_view service = engine::DeviceServiceName(device.service);
  gpu->set_name(device.service == engine::DeviceService::kWorks
                    ? device.name
                    : StrCat(device.name, " (", service, ": ", device.service_reason, ")"));
  gpu->set_vram_total_bytes(device.memory.total);
  gpu->set_vram_free_bytes(device.memory.free);
  for (const engine::WorkerStatus& worker : device.workers) {
    if (!worker.job_key) continue;
    gpu->set_current_job_id(worker.job_id);
    gpu->set_current_proof_kind(std::string(filecoin::KindInfo(worker.kind).message_name));
    break;
  }
}

}  // namespace

grpc::Status ToGrpc(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {CodeOf(status.code()), Cut(status.message())};
}

Status FromGrpc(const grpc::Status& status) {
  return {static_cast<absl::StatusCode>(status.error_code()), status.error_message()};
}

Status CheckFieldSizes(const v1::SubmitProofRequest& message) {
  const uint64_t items = static_cast<uint64_t>(message.vanilla_proofs_size()), most = filecoin::MostVanillaProofs();
  if (items > most) {
    return absl::InvalidArgumentError(
        StrCat("vanilla_proofs has ", items, " items, but no registered proof takes more than ", most));
  }
  const std::pair<std::string_view, const std::string&> elements[] = {{"randomness", message.randomness()},
                                                                      {"comm_r_old", message.comm_r_old()},
                                                                      {"comm_r_new", message.comm_r_new()},
                                                                      {"comm_d_new", message.comm_d_new()}};
  for (const auto& [name, value] : elements) {
    if (value.empty() || value.size() == kElementBytes) continue;
    return absl::InvalidArgumentError(StrCat(name, " has ", value.size(), " bytes, not ", kElementBytes));
  }
  return absl::OkStatus();
}

engine::ProofRequest ToProofRequest(v1::SubmitProofRequest&& message) {
  engine::ProofRequest request;
  request.request_id = std::move(*message.mutable_request_id());
  // Numbers outside the enum arrive as they are; the engine says what they mean.
  request.priority = static_cast<uint64_t>(static_cast<int64_t>(message.priority()));
  filecoin::VanillaRequest& vanilla = request.vanilla;
  vanilla.kind = static_cast<uint64_t>(static_cast<int64_t>(message.proof_kind()));
  vanilla.registered_proof = message.registered_proof();
  vanilla.sector_size = message.sector_size();
  vanilla.sector_number = message.sector_number();
  vanilla.miner_id = message.miner_id();
  vanilla.partition_index = message.partition_index();
  vanilla.vanilla_proof = std::move(*message.mutable_vanilla_proof());
  vanilla.vanilla_proofs.reserve(static_cast<size_t>(message.vanilla_proofs_size()));
  for (std::string& item : *message.mutable_vanilla_proofs()) vanilla.vanilla_proofs.push_back(std::move(item));
  vanilla.randomness = std::move(*message.mutable_randomness());
  vanilla.comm_r_old = std::move(*message.mutable_comm_r_old());
  vanilla.comm_r_new = std::move(*message.mutable_comm_r_new());
  vanilla.comm_d_new = std::move(*message.mutable_comm_d_new());
  return request;
}

v1::SubmitProofRequest ToSubmitMessage(std::string request_id, filecoin::VanillaRequest&& request) {
  v1::SubmitProofRequest message;
  message.set_request_id(std::move(request_id));
  message.set_proof_kind(static_cast<v1::ProofKind>(request.kind));
  message.set_sector_size(request.sector_size);
  message.set_registered_proof(request.registered_proof);
  if (const filecoin::KindRow* kind = filecoin::FindKind(request.kind)) {
    message.set_priority(static_cast<v1::Priority>(kind->default_priority));
  }
  message.set_vanilla_proof(std::move(request.vanilla_proof));
  for (std::string& item : request.vanilla_proofs) message.add_vanilla_proofs(std::move(item));
  message.set_sector_number(request.sector_number);
  message.set_miner_id(request.miner_id);
  message.set_randomness(std::move(request.randomness));
  message.set_partition_index(request.partition_index);
  message.set_comm_r_old(std::move(request.comm_r_old));
  message.set_comm_r_new(std::move(request.comm_r_new));
  message.set_comm_d_new(std::move(request.comm_d_new));
  return message;
}

v1::AwaitProofResponse ToAwaitResponse(const engine::JobResult& result) {
  v1::AwaitProofResponse response;
  response.set_job_id(result.job_id);
  response.set_status(ResultStatus(result.state));
  response.set_error_message(result.error);
  if (result.state != engine::JobState::kCompleted) return response;
  response.set_proof(*result.proof);
  response.set_queue_wait_ms(result.timings.queue_wait_ms);
  response.set_srs_load_ms(result.timings.srs_load_ms);
  response.set_synthesis_ms(result.timings.synthesis_ms);
  response.set_gpu_compute_ms(result.timings.gpu_compute_ms);
  response.set_total_ms(result.timings.total_ms);
  return response;
}

v1::GetStatusResponse ToStatusResponse(const engine::EngineStatus& status) {
  v1::GetStatusResponse response;
  uint64_t pinned = 0, completed = 0, failed = 0;
  for (size_t i = 0; i < status.devices.size(); ++i) {
    AddDevice(status.devices[i], i, response);
    pinned += status.devices[i].pool.total_bytes;
  }
  std::map<std::string, v1::SRSStatus> circuits;  // one entry, whatever the number of devices
  for (const prover::ParameterStatus& parameters : status.parameters) {
    v1::SRSStatus& srs = circuits[parameters.circuit];
    bool first = srs.circuit_id().empty();
    srs.set_circuit_id(parameters.circuit);
    srs.set_tier(first ? TierOf(parameters) : std::min(srs.tier(), TierOf(parameters)));
    srs.set_size_bytes(srs.size_bytes() + parameters.host_bytes + parameters.device_bytes);
    srs.set_ref_count(status.ParameterReferences(parameters.circuit));
  }
  for (auto& [id, srs] : circuits) *response.add_loaded_srs() = std::move(srs);
  for (const auto& [kind, counts] : status.kinds) {
    completed += counts.completed_total;
    failed += counts.failed_total;
    if (counts.pending + counts.in_progress == 0) continue;
    v1::QueueStatus* queue = response.add_queues();
    queue->set_proof_kind(std::string(filecoin::KindInfo(kind).message_name));
    queue->set_pending(counts.pending);
    queue->set_in_progress(counts.in_progress);
  }
  response.set_total_proofs_completed(completed);
  response.set_total_proofs_failed(failed);
  response.set_uptime_seconds(static_cast<uint64_t>(status.uptime_seconds));
  response.set_pinned_memory_bytes(pinned);
  response.set_pinned_memory_limit_bytes(status.budget.limit_bytes);
  return response;
}

cuzkd::v1::DeviceState ToDeviceState(const engine::DeviceStatus& device) {
  cuzkd::v1::DeviceState state;
  state.set_device(device.ordinal < 0 ? "cpu" : StrCat(device.ordinal));
  state.set_uuid(device.identity.uuid);
  state.set_name(device.name);
  state.set_state(std::string(engine::DeviceServiceName(device.service)));
  state.set_reason(device.service_reason);
  state.set_seconds_in_state(device.service_seconds_ago);
  state.set_partitions(device.partitions_total);
  state.set_wrong_proofs(device.wrong_proofs);
  state.set_errors_in_a_row(device.errors_in_a_row);
  return state;
}

cuzkd::v1::JobProgress ToProgressMessage(const engine::JobProgress& progress) {
  cuzkd::v1::JobProgress message;
  message.set_job_id(progress.job_id);
  message.set_kind(std::string(filecoin::KindInfo(progress.kind).name));
  message.set_state(std::string(engine::JobStateName(progress.state)));
  message.set_stage(std::string(engine::StageName(progress.stage)));
  message.set_partitions_total(progress.partitions_total);
  message.set_partitions_done(progress.partitions_done);
  message.set_fraction(progress.fraction);
  message.set_seconds_left(progress.seconds_left.value_or(-1));
  message.set_jobs_before(progress.jobs_before);
  message.set_worker(progress.worker);
  message.set_message(progress.message);
  for (uint64_t number : progress.bad_sectors) message.add_bad_sectors(number);
  message.set_failure(std::string(engine::JobFailureName(progress.failure)));
  message.set_priority(static_cast<uint32_t>(progress.priority));
  message.set_age_seconds(progress.age_seconds);
  return message;
}

}  // namespace cuzk::daemon
