#include "daemon/settings/options.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_join.h"
#include "core/base/settings/nearest_name.h"
#include "core/filecoin/types/registry.h"
#include "core/memory/detect.h"

namespace cuzk::daemon {
namespace {

// An integer whose range the table bounds to 32 bits.
uint32_t Small(const Settings& settings, std::string_view name) {
  return static_cast<uint32_t>(settings.Integer(name));
}

// A duration that its user counts in seconds: a fraction is refused rather than dropped.
StatusOr<std::chrono::seconds> WholeSeconds(const Settings& settings, std::string_view name) {
  auto value = settings.Duration(name);
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(value);
  if (seconds == value) return seconds;
  return absl::InvalidArgumentError(
      StrCat(name, ": ", value.count(), " ms is not a whole number of seconds (", settings.Origin(name), ")"));
}

// A size without "auto".
uint64_t SizeOf(const Settings& settings, std::string_view name) { return settings.Size(name).value_or(0); }

StatusOr<ServerOptions> MakeServerOptions(const Settings& settings) {
  ServerOptions server;
  StatusOr<std::vector<Address>> listen = ParseAddresses(settings.Text("listen"));
  if (!listen.ok()) return Annotate(listen.status(), "listen");
  server.listen = *std::move(listen);
  server.socket_mode = settings.Mode("listen_mode");
  server.max_message_bytes = SizeOf(settings, "grpc.max_message");
  server.max_calls_per_connection = settings.Integer("grpc.max_calls");
  server.max_threads = settings.Integer("grpc.threads");
  server.allow_plaintext = settings.Bool("grpc.allow_plaintext");
  server.reflection = settings.Bool("grpc.reflection");
  server.keepalive = settings.Duration("grpc.keepalive");
  server.keepalive_timeout = settings.Duration("grpc.keepalive_timeout");
  server.least_ping_interval = settings.Duration("grpc.least_ping_interval");
  server.tls = {settings.Text("tls.certificate"), settings.Text("tls.key"), settings.Text("tls.client_ca")};
  CUZK_RETURN_IF_ERROR(CheckServerOptions(server));
  return server;
}

StatusOr<engine::EngineOptions> MakeEngineOptions(const Settings& settings) {
  engine::EngineOptions options;
  options.parameter_directory = settings.Text("params.directory");
  options.allow_development = settings.Bool("params.allow_development");
  options.digest =
      settings.Text("params.verify") == "always" ? prover::DigestPolicy::kAlways : prover::DigestPolicy::kCheck;
  options.max_unfinished_jobs = Small(settings, "jobs.queue");
  options.max_results = Small(settings, "jobs.results");
  options.synthesis_threads = Small(settings, "synthesis.partitions");
  options.workers_per_device = Small(settings, "devices.workers");
  if (settings.Bool("devices.quarantine")) options.quarantine_errors = Small(settings, "devices.quarantine_errors");
  options.max_request_bytes = SizeOf(settings, "grpc.max_message");
  options.max_request_memory = SizeOf(settings, "memory.requests");
  CUZK_ASSIGN_OR_RETURN(options.max_job_time, WholeSeconds(settings, "jobs.max_time"));
  options.state_directory = settings.Text("jobs.state_directory");
  options.max_stored_bytes = SizeOf(settings, "jobs.stored");
  options.history = {.age = settings.Duration("jobs.history"), .most = Small(settings, "jobs.history_max")};
  options.max_losses = Small(settings, "jobs.losses");
  CUZK_ASSIGN_OR_RETURN(options.result_age, WholeSeconds(settings, "jobs.result_age"));
  return options;
}

StatusOr<uint64_t> MemoryBudget(const Settings& settings) {
  if (std::optional<uint64_t> bytes = settings.Size("memory.budget")) return *bytes;
  CUZK_ASSIGN_OR_RETURN(memory::MemoryLimits limits, memory::DetectMemory());
  return memory::DefaultBudget(limits);
}

// One budget for everything: what gRPC may use for messages that are arriving is taken off what the engine gets.
Status DivideBudget(const Settings& settings, uint64_t budget, DaemonOptions& options) {
  constexpr uint64_t kMostIngress = uint64_t{4} << 30;
  const uint64_t ingress = settings.Size("grpc.ingress_memory").value_or(std::min(budget / 4, kMostIngress));
  if (ingress == 0 || ingress >= budget) {
    return absl::InvalidArgumentError(StrCat("grpc.ingress_memory: ", FormatSize(ingress),
                                             " must be more than 0B and less than memory.budget, ", FormatSize(budget),
                                             " (", settings.Origin("grpc.ingress_memory"), ")"));
  }
  options.server.ingress_bytes = ingress;
  options.memory_budget = budget - ingress;
  return absl::OkStatus();
}

Status CheckHttpAddress(const Settings& settings, const Address& http, const std::vector<Address>& listen) {
  if (http.kind != Address::Kind::kTcp) {
    return absl::InvalidArgumentError(
        StrCat("http.listen: must be HOST:PORT, not ", http.Target(), " (", settings.Origin("http.listen"), ")"));
  }
  if (!http.IsLocal() && !settings.Bool("http.allow_remote")) {
    return absl::InvalidArgumentError(
        StrCat("http.listen: other machines can reach ", http.Target(), "; http.allow_remote = true allows it"));
  }
  for (const Address& other : listen) {
    if (Collide(http, other)) {
      return absl::InvalidArgumentError(
          StrCat("http.listen: ", http.Target(), " and listen: ", other.Target(), " are the same address"));
    }
  }
  return absl::OkStatus();
}

LogOptions MakeLogOptions(const Settings& settings) {
  LogOptions log;
  log.level = LogLevelFromName(settings.Text("log.level"));
  log.json = settings.Text("log.format") == "json";
  log.journal_priority = StderrIsJournal();
  return log;
}

}  // namespace

StatusOr<DaemonOptions> MakeOptions(const Settings& settings) {
  DaemonOptions options;
  CUZK_ASSIGN_OR_RETURN(options.server, MakeServerOptions(settings));
  CUZK_ASSIGN_OR_RETURN(options.engine, MakeEngineOptions(settings));
  CUZK_ASSIGN_OR_RETURN(uint64_t budget, MemoryBudget(settings));
  CUZK_RETURN_IF_ERROR(DivideBudget(settings, budget, options));
  options.pool_threads = Small(settings, "synthesis.threads");
  if (std::string http = settings.Text("http.listen"); !http.empty()) {
    StatusOr<Address> address = ParseAddress(http);
    if (!address.ok()) return Annotate(address.status(), "http.listen");
    CUZK_RETURN_IF_ERROR(CheckHttpAddress(settings, *address, options.server.listen));
    options.http = *std::move(address);
  }
  options.log = MakeLogOptions(settings);
  options.devices = {settings.Text("devices.use"), settings.List("devices.cards"), SizeOf(settings, "devices.memory")};
  StatusOr<std::vector<KindsOfCard>> kinds = ParseKinds(settings.List("devices.kinds"));
  if (!kinds.ok()) {
    return absl::InvalidArgumentError(
        StrCat("devices.kinds: ", kinds.status().message(), " (", settings.Origin("devices.kinds"), ")"));
  }
  options.device_kinds = *std::move(kinds);
  options.devices_wait = settings.Duration("devices.wait");
  if (settings.Bool("devices.quarantine")) options.device_stall = settings.Duration("devices.quarantine_stall");
  options.preload = settings.List("params.preload");
  for (const std::string& circuit : options.preload) {
    if (filecoin::FindCircuit(circuit)) continue;
    std::vector<std::string> ids;
    for (bool published : {true, false}) {
      for (const filecoin::Circuit& known : filecoin::Circuits()) {
        if (known.size->published == published) ids.push_back(known.id);
      }
    }
    return absl::InvalidArgumentError(StrCat("params.preload: there is no circuit \"", circuit, "\" (",
                                             settings.Origin("params.preload"), ")", DidYouMean(circuit, ids),
                                             " The circuits are ", absl::StrJoin(ids, ", ")));
  }
  options.ready_before_preload = settings.Bool("params.ready_before_preload");
  options.evict_idle = settings.Duration("params.evict_idle");
  options.legacy_metrics = settings.Bool("legacy_metrics");
  options.drain = settings.Duration("jobs.drain");
  options.cancel_abandoned = settings.Bool("jobs.cancel_abandoned");
  return options;
}

}  // namespace cuzk::daemon
