// status, preload, evict: what the daemon holds.

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <thread>

#include "core/base/log.h"
#include "daemon/common/convert.h"
#include "daemon/common/json_writer.h"
#include "daemon/ctl/connection/client.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/ctl/output/figures.h"
#include "daemon/ctl/output/text_table.h"
#include "daemon/ctl/top/state.h"

namespace cuzk::daemon {
namespace {

/// What the daemon holds, from both of its answers.
struct Answers {
  v1::GetStatusResponse status;
  MetricSamples metrics{""};

  bool accepting() const { return metrics.Sum("cuzk_ready").value_or(1) > 0; }
};

void PrintTable(const TextTable& table) {
  if (table.empty()) return;
  PrintLine("");
  for (const std::string& line : table.Lines()) PrintLine(line);
}

TextTable DeviceTable(const v1::GetStatusResponse& status) {
  TextTable table({">DEVICE", "NAME", "MEMORY IN USE", "JOB"});
  for (const v1::GPUStatus& gpu : status.gpus()) {
    const uint64_t used = gpu.vram_total_bytes() - std::min(gpu.vram_free_bytes(), gpu.vram_total_bytes());
    table.Add({StrCat(gpu.ordinal()), EscapeControl(gpu.name()), Share(used, gpu.vram_total_bytes()),
               gpu.current_job_id().empty() ? "idle" : EscapeControl(gpu.current_job_id())});
  }
  return table;
}

TextTable ParameterTable(const v1::GetStatusResponse& status) {
  TextTable table({"PARAMETERS", ">SIZE", "STATE"});
  for (const v1::SRSStatus& srs : status.loaded_srs()) {
    const bool loading = srs.tier() == v1::SRSStatus::COLD;
    table.Add({srs.circuit_id(), Amount(srs.size_bytes()),
               loading               ? "loading"
               : srs.ref_count() > 0 ? "in use"
                                     : "idle"});
  }
  return table;
}

// Jobs by kind, under the kinds' names: waiting and running now, and how they have ended since the start.
TextTable JobTable(const Answers& answers) {
  TextTable table({"JOBS", ">WAITING", ">RUNNING", ">PROVED", ">FAILED", ">CANCELLED"});
  std::array<uint64_t, 5> totals{};
  auto add = [&](std::string_view name, const std::array<uint64_t, 5>& row) {
    std::vector<std::string> cells{std::string(name)};
    for (uint64_t cell : row) cells.push_back(StrCat(cell));
    table.Add(std::move(cells));
  };
  for (const filecoin::KindRow& kind : filecoin::Kinds()) {
    std::array<uint64_t, 5> row{};
    for (const v1::QueueStatus& queue : answers.status.queues()) {
      if (queue.proof_kind() != kind.message_name) continue;
      row[0] = queue.pending();
      row[1] = queue.in_progress();
    }
    size_t cell = 2;
    for (const char* name :
         {"cuzk_proofs_completed_total", "cuzk_proofs_failed_total", "cuzk_proofs_cancelled_total"}) {
      row[cell++] = static_cast<uint64_t>(answers.metrics.Sum(name, "proof_kind", kind.metric_label).value_or(0));
    }
    for (size_t i = 0; i < row.size(); ++i) totals[i] += row[i];
    add(kind.name, row);
  }
  add("total", totals);
  return table;
}

void PrintStatus(const Session& session, const Answers& answers) {
  const v1::GetStatusResponse& status = answers.status;
  PrintLine(StrCat("cuzkd at ", EscapeControl(session.address), ", up ",
                   DurationText(static_cast<double>(status.uptime_seconds())), ", ",
                   answers.accepting() ? "accepting jobs" : "not accepting jobs"));
  PrintTable(DeviceTable(status));
  PrintTable(ParameterTable(status));
  PrintTable(JobTable(answers));
  const uint64_t used = static_cast<uint64_t>(answers.metrics.Sum("cuzk_memory_used_bytes").value_or(0));
  PrintLine("");
  PrintLine(StrCat("memory budget: ", Share(used, status.pinned_memory_limit_bytes()),
                   " in use, without grpc.ingress_memory; witness buffers: ", Amount(status.pinned_memory_bytes())));
}

StatusOr<Answers> AskOnce(const Session& session) {
  CUZK_ASSIGN_OR_RETURN(Client client, Client::Connect(session));
  Answers answers;
  grpc::ClientContext for_status, for_metrics;
  CUZK_RETURN_IF_ERROR(FromDaemon(client.proving->GetStatus(&for_status, {}, &answers.status)));
  v1::GetMetricsResponse metrics;
  CUZK_RETURN_IF_ERROR(FromDaemon(client.proving->GetMetrics(&for_metrics, {}, &metrics)));
  answers.metrics = MetricSamples(metrics.prometheus_text());
  return answers;
}

// With a time to wait, asks again until the daemon accepts jobs.
StatusOr<Answers> Ask(const Session& session, std::optional<std::chrono::milliseconds> wait) {
  const auto end = std::chrono::steady_clock::now() + wait.value_or(std::chrono::milliseconds(0));
  while (true) {
    StatusOr<Answers> answers = AskOnce(session);
    if (!wait || (answers.ok() && answers->accepting())) return answers;
    if (!answers.ok() && !absl::IsUnavailable(answers.status())) return answers;
    if (std::chrono::steady_clock::now() >= end) {
      if (answers.ok()) {
        return SaidByDaemon(absl::DeadlineExceededError(
            StrCat("the daemon did not accept jobs within ", wait->count(), " ms; /readyz and its log say why")));
      }
      const Status why = Explained(session, answers.status());
      return Reworded(why, StrCat("the daemon did not answer within ", wait->count(), " ms: ", why.message()));
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
  CUZK_ASSIGN_OR_RETURN(Answers answers, Ask(session, wait));
  if (!session.json) {
    PrintStatus(session, answers);
    return ControlExit::kOk;
  }
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(answers.status, &json, options).ok()) {
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
    PrintLine(StrCat(circuit, ": was already loaded"));
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
    PrintLine(StrCat(circuit,
                     response.was_loaded() ? StrCat(": freed ", Amount(response.freed_bytes())) : ": was not loaded"));
  }
  return ControlExit::kOk;
}

}  // namespace

void AddStatus(CLI::App& program, Commands& commands) {
  CLI::App* status = program.add_subcommand("status", "Show devices, parameters, queues and totals");
  auto wait = std::make_shared<std::string>();
  status->add_option("--wait", *wait, "Longest time to wait until the daemon accepts jobs, such as 20s");
  commands.push_back({status, [wait](const Session& session) { return RunStatus(session, *wait); }});

  auto circuit = std::make_shared<std::string>();
  CLI::App* preload =
      program.add_subcommand("preload", "Load the parameters of a circuit and wait until they are loaded");
  preload->add_option("CIRCUIT", *circuit, "Circuit id, such as porep-32g")->required();
  commands.push_back({preload, [circuit](const Session& session) { return RunPreload(session, *circuit); }});

  CLI::App* evict = program.add_subcommand("evict", "Unload the parameters of a circuit, if no job uses them");
  evict->add_option("CIRCUIT", *circuit, "Circuit id, such as porep-32g")->required();
  commands.push_back({evict, [circuit](const Session& session) { return RunEvict(session, *circuit); }});
}

}  // namespace cuzk::daemon
