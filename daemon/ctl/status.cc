// status, preload, evict: what the daemon holds.

#include <google/protobuf/util/json_util.h>

#include <chrono>
#include <optional>
#include <thread>

#include "core/base/log.h"
#include "daemon/common/convert.h"
#include "daemon/common/json_writer.h"
#include "daemon/ctl/client.h"
#include "daemon/ctl/command.h"

namespace cuzk::daemon {
namespace {

std::string Mib(uint64_t bytes) { return StrCat(bytes >> 20, " MiB"); }

void PrintStatus(const v1::GetStatusResponse& status) {
  PrintLine(StrCat("up ", status.uptime_seconds(), " s, ", status.total_proofs_completed(), " proofs completed, ",
                   status.total_proofs_failed(), " failed"));
  for (const v1::GPUStatus& gpu : status.gpus()) {
    PrintLine(StrCat("device ", gpu.ordinal(), ": ", EscapeControl(gpu.name()), ", ", Mib(gpu.vram_free_bytes()),
                     " of ", Mib(gpu.vram_total_bytes()), " free, ",
                     gpu.current_job_id().empty() ? "idle" : EscapeControl(gpu.current_job_id())));
  }
  for (const v1::SRSStatus& srs : status.loaded_srs()) {
    PrintLine(StrCat("parameters ", srs.circuit_id(), ": ", Mib(srs.size_bytes()), ", ",
                     srs.ref_count() > 0 ? "in use" : "idle"));
  }
  for (const v1::QueueStatus& queue : status.queues()) {
    PrintLine(
        StrCat("jobs ", queue.proof_kind(), ": ", queue.pending(), " waiting, ", queue.in_progress(), " running"));
  }
  PrintLine(StrCat("buffers: ", Mib(status.pinned_memory_bytes()), "; memory budget ",
                   Mib(status.pinned_memory_limit_bytes()), " and grpc.ingress_memory for arriving messages"));
}

// Asks once; with a time to wait, again as long as nobody answers.
StatusOr<v1::GetStatusResponse> Ask(const Session& session, std::optional<std::chrono::milliseconds> wait) {
  const auto end = std::chrono::steady_clock::now() + wait.value_or(std::chrono::milliseconds(0));
  while (true) {
    CUZK_ASSIGN_OR_RETURN(Client client, Client::Connect(session));
    grpc::ClientContext context;
    v1::GetStatusResponse response;
    Status asked = FromDaemon(client.proving->GetStatus(&context, {}, &response));
    if (asked.ok()) return response;
    if (!wait || !absl::IsUnavailable(asked)) return asked;
    if (std::chrono::steady_clock::now() >= end) {
      return Reworded(asked, StrCat("no answer within ", wait->count(), " ms: ", asked.message()));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

StatusOr<ControlExit> RunStatus(const Session& session, const std::string& wait_flag) {
  std::optional<std::chrono::milliseconds> wait;
  if (!wait_flag.empty()) {
    StatusOr<std::chrono::milliseconds> duration = ParseDuration(wait_flag);
    if (!duration.ok()) return UsageMistake(Annotate(duration.status(), "--wait"));
    wait = *duration;
  }
  CUZK_ASSIGN_OR_RETURN(v1::GetStatusResponse response, Ask(session, wait));
  if (!session.json) {
    PrintStatus(response);
    return ControlExit::kOk;
  }
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(response, &json, options).ok()) {
    return absl::InternalError("the status cannot be written as JSON");
  }
  PrintLine(json);
  return ControlExit::kOk;
}

StatusOr<ControlExit> RunPreload(const Session& session, const std::string& circuit) {
  CUZK_ASSIGN_OR_RETURN(Client client, Client::Connect(session));
  grpc::ClientContext context;
  v1::PreloadSrsRequest request;
  request.set_circuit_id(circuit);
  v1::PreloadSrsResponse response;
  CUZK_RETURN_IF_ERROR(FromDaemon(client.proving->PreloadSRS(&context, request, &response)));
  if (session.json) {
    JsonWriter json;
    json.BeginObject().Member("circuit_id", circuit).Member("already_loaded", response.already_loaded());
    PrintLine(json.Member("load_time_ms", response.load_time_ms()).EndObject().text());
  } else if (response.already_loaded()) {
    PrintLine(StrCat(circuit, ": was loaded already"));
  } else {
    PrintLine(StrCat(circuit, ": loaded in ", response.load_time_ms(), " ms"));
  }
  return ControlExit::kOk;
}

StatusOr<ControlExit> RunEvict(const Session& session, const std::string& circuit) {
  CUZK_ASSIGN_OR_RETURN(Client client, Client::Connect(session));
  grpc::ClientContext context;
  v1::EvictSrsRequest request;
  request.set_circuit_id(circuit);
  v1::EvictSrsResponse response;
  CUZK_RETURN_IF_ERROR(FromDaemon(client.proving->EvictSRS(&context, request, &response)));
  if (session.json) {
    JsonWriter json;
    json.BeginObject().Member("circuit_id", circuit).Member("was_loaded", response.was_loaded());
    PrintLine(json.Member("freed_bytes", response.freed_bytes()).EndObject().text());
  } else {
    PrintLine(
        StrCat(circuit, response.was_loaded() ? StrCat(": freed ", Mib(response.freed_bytes())) : ": was not loaded"));
  }
  return ControlExit::kOk;
}

}  // namespace

void AddStatus(CLI::App& program, Commands& commands) {
  CLI::App* status = program.add_subcommand("status", "Devices, parameters, queues and totals");
  auto wait = std::make_shared<std::string>();
  status->add_option("--wait", *wait, "How long to ask again while no daemon answers, such as 20s");
  commands.push_back({status, [wait](const Session& session) { return RunStatus(session, *wait); }});

  auto circuit = std::make_shared<std::string>();
  CLI::App* preload = program.add_subcommand("preload", "Load the parameters of a circuit and wait for it");
  preload->add_option("CIRCUIT", *circuit, "Circuit id, such as porep-32g")->required();
  commands.push_back({preload, [circuit](const Session& session) { return RunPreload(session, *circuit); }});

  CLI::App* evict = program.add_subcommand("evict", "Drop the parameters of a circuit that no job uses");
  evict->add_option("CIRCUIT", *circuit, "Circuit id, such as porep-32g")->required();
  commands.push_back({evict, [circuit](const Session& session) { return RunEvict(session, *circuit); }});
}

}  // namespace cuzk::daemon
