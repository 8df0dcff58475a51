#include "daemon/daemon.h"

#include <cstdlib>
#include <stop_token>
#include <utility>

#include "core/base/metrics.h"
#include "core/base/thread_pool.h"
#include "daemon/devices.h"
#include "daemon/http_pages.h"
#include "daemon/operator_service.h"
#include "daemon/proving_service.h"
#include "daemon/telemetry.h"
#include "daemon/version.h"

namespace cuzk::daemon {

// Destroyed from the bottom up: servers, services, engine, devices, pool.
struct Daemon::Parts {
  Parts(const Settings& s, const DaemonOptions& o)
      : settings(s), options(o), log(o.log), budget(o.memory_budget), pool(o.pool_threads), telemetry(log, metrics) {}

  const Settings settings;
  const DaemonOptions options;
  Logger log;
  Metrics metrics;
  std::stop_source stop;
  memory::Budget budget;
  ThreadPool pool;
  Telemetry telemetry;
  DeviceChoice devices;
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<ProvingService> proving;
  std::unique_ptr<OperatorService> operator_service;
  std::unique_ptr<Server> server;
  std::unique_ptr<HttpServer> http;
};

Daemon::Daemon(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Daemon::~Daemon() {
  StopNow();
  parts_->http.reset();
  parts_->server.reset();
}

Logger& Daemon::log() { return parts_->log; }

StatusOr<std::unique_ptr<Daemon>> Daemon::Start(const Settings& settings, const DaemonOptions& options) {
  const char* wanted = std::getenv("CUZK_CPU_ARITHMETIC");
  CUZK_ASSIGN_OR_RETURN(algebra::Arithmetic arithmetic,
                        algebra::ResolveArithmetic(wanted ? std::optional<std::string_view>(wanted) : std::nullopt));
  auto parts = std::make_unique<Parts>(settings, options);
  Parts& p = *parts;
  const BuildInfo build = Build();
  p.metrics.Set(MetricId::kBuildInfo, {build.version, build.revision, build.cuda, build.architectures, build.compiler},
                1);
  p.metrics.Set(MetricId::kConfigReloadSuccessful, {}, 1);
  p.metrics.Set(MetricId::kConfigReloadTime, {},
                std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
  CUZK_ASSIGN_OR_RETURN(p.devices, PickDevices(options.devices_use, arithmetic, p.pool));
  p.log.Info(p.devices.explanation);
  p.log.Info(StrCat("memory budget ", options.memory_budget >> 20, " MiB"));

  engine::EngineParts engine_parts{.budget = &p.budget, .pool = &p.pool, .observer = &p.telemetry};
  for (auto& device : p.devices.devices) engine_parts.devices.push_back(device.get());
  CUZK_ASSIGN_OR_RETURN(p.engine, engine::Engine::Create(options.engine, engine_parts));
  p.telemetry.set_parameters([engine = p.engine.get()] { return engine->Snapshot().parameters; });
  for (const std::string& circuit : options.preload) {
    StatusOr<engine::PreloadResult> loaded = p.engine->Preload(circuit);
    if (!loaded.ok()) return Annotate(loaded.status(), StrCat("params.preload: ", circuit));
    p.log.Info("parameters loaded", {{"circuit", circuit}, {"dur_ms", StrCat(loaded->load_time_ms)}});
  }
  p.proving = std::make_unique<ProvingService>(
      *p.engine, p.metrics, ProvingService::Options{.cancel_abandoned = options.cancel_abandoned}, p.stop.get_token());
  p.operator_service = std::make_unique<OperatorService>(*p.engine, p.metrics, p.settings, p.stop.get_token());
  CUZK_ASSIGN_OR_RETURN(p.server, Server::Start(options.server, {p.proving.get(), p.operator_service.get()}));
  if (options.http) {
    HttpServer::Pages pages = MakePages({.engine = p.engine.get(),
                                         .ready = [&p] { return p.engine->Ready(); },
                                         .metrics = [&p] { return MetricsText(p.engine->Snapshot(), p.metrics); }});
    CUZK_ASSIGN_OR_RETURN(p.http, HttpServer::Start(*options.http, std::move(pages)));
    p.log.Info(StrCat("http://", options.http->host, ":", p.http->port(), "/status"));
  }
  p.server->SetServing(true);
  for (const Address& address : p.server->addresses()) p.log.Info(StrCat("listening on ", address.Target()));
  return std::unique_ptr<Daemon>(new Daemon(std::move(parts)));
}

void Daemon::Drain() {
  Parts& p = *parts_;
  p.server->SetServing(false);
  p.log.Info("draining: accepted jobs go on, nothing more is accepted");
  uint32_t ended = p.engine->Drain(std::chrono::steady_clock::now() + p.options.drain);
  if (ended > 0) p.log.Warning(StrCat(ended, " jobs were ended unfinished"));
  p.server->Shutdown(std::chrono::seconds(5));
  p.log.Info("stopped");
}

void Daemon::StopNow() {
  // First the engine: whoever waits hears how the job ended, then the waits themselves stop.
  parts_->engine->Drain(std::chrono::steady_clock::now());
  parts_->stop.request_stop();
}

}  // namespace cuzk::daemon
