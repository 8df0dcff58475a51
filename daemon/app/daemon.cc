#include "daemon/app/daemon.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "core/base/mutex.h"
#include "daemon/app/cards/device_wait.h"
#include "daemon/app/daemon_parts.h"
#include "daemon/app/parameters/preloaded.h"
#include "daemon/app/process/open_files.h"
#include "daemon/app/process/secure_directory.h"
#include "daemon/app/process/spare_threads.h"
#include "daemon/app/waiting_front.h"
#include "daemon/common/version.h"
#include "daemon/http/http_pages.h"
#include "daemon/http/legacy_metrics.h"
#include "daemon/settings/check_config.h"

namespace cuzk::daemon {

namespace {

/// Gone soon after a burst of calls.
constexpr size_t kThreadsForCalls = 64;

/// At the start: two dozen are gRPC's and our own, a dozen those of a card and its driver, for eight cards.
size_t ThreadsNeeded(const DaemonOptions& options) {
  const size_t pool = options.pool_threads != 0 ? options.pool_threads : std::thread::hardware_concurrency();
  return pool + options.engine.synthesis_threads + HttpServer::kThreads + 112;
}

}  // namespace

Daemon::Daemon(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Daemon::~Daemon() {
  StopNow();
  parts_->path_probe.reset();
  parts_->http.reset();
  parts_->server.reset();
}

Logger& Daemon::log() { return parts_->log; }

engine::EngineStatus Daemon::Snapshot() const { return parts_->Snapshot(); }

Status Daemon::AwaitLoss(std::stop_token stop) const { return parts_->engine->AwaitLoss(std::move(stop)); }

StatusOr<std::unique_ptr<Daemon>> Daemon::Start(const Settings& settings, const DaemonOptions& options,
                                                const Pause& pause, const DaemonSeams& seams) {
  // The pool of threads is the first of the parts.
  const size_t needed = ThreadsNeeded(options);
  const size_t wanted = needed + kThreadsForCalls;
  CUZK_RETURN_IF_ERROR(CheckAddressSpace(needed));
  const size_t spare = SpareThreads(wanted);
  CUZK_RETURN_IF_ERROR(CheckThreads(spare, needed));
  const bool few = spare < wanted;
  auto parts = std::make_unique<Parts>(settings, options);
  if (few) parts->log.Warning(StrCat("at most ", spare, " threads can be started; few are left for calls"));
  RaiseOpenFiles(parts->log);
  CUZK_ASSIGN_OR_RETURN(algebra::Arithmetic arithmetic, algebra::ResolveArithmetic(std::getenv("CUZK_CPU_ARITHMETIC")));
  CUZK_RETURN_IF_ERROR(parts->PickDevices(arithmetic, pause, seams));
  CUZK_RETURN_IF_ERROR(parts->MakeEngine(arithmetic, seams));
  // A client that gets an answer may send jobs, unless parameters are to be loaded first.
  const bool ready = options.preload.empty() || options.ready_before_preload;
  if (ready) parts->readiness.Set("");
  CUZK_RETURN_IF_ERROR(parts->Listen());
  std::unique_ptr<Daemon> daemon(new Daemon(std::move(parts)));
  Parts& p = *daemon->parts_;
  if (ready) daemon->Accept();
  for (const std::string& listener : p.server->Listeners()) p.log.Info(StrCat("listening on ", listener));
  return daemon;
}

Status Daemon::Parts::PickDevices(algebra::Arithmetic arithmetic, const Pause& pause, const DaemonSeams& seams) {
  const DeviceSources sources = seams.sources.value_or(DeviceSources{.driver = card_driver.get()});
  std::unique_ptr<WaitingFront> front;
  std::string told;
  auto tell = [&](const std::string& why) {
    if (why != std::exchange(told, why)) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.devices_wait).count();
      log.Error(StrCat("waiting for a card, for at most ", seconds, " s (devices.wait): ", why));
    }
    if (front != nullptr) {
      front->Say(why);
      return absl::OkStatus();
    }
    CUZK_ASSIGN_OR_RETURN(identity, MakeTlsIdentity(options.server));
    auto metrics_text = [this] {
      UpdateProcessMetrics(metrics);
      return metrics.Text();
    };
    CUZK_ASSIGN_OR_RETURN(front, WaitingFront::Start({.options = &options,
                                                      .identity = identity.get(),
                                                      .calls = &calls,
                                                      .memory = &ingress,
                                                      .connection_ended = ConnectionEnded(),
                                                      .metrics = metrics_text},
                                                     why));
    return absl::OkStatus();
  };
  auto look = [&] {
    DeviceSearch search = FindDevices(options.devices, sources, arithmetic, pool);
    metrics.Set(MetricId::kDevicesPresent, {}, static_cast<double>(search.present));
    return search;
  };
  for (MetricId id : {MetricId::kReady, MetricId::kDevicesUsable, MetricId::kFallbackToCpu}) metrics.Set(id, {}, 0);
  CUZK_ASSIGN_OR_RETURN(devices, AwaitDevices({.limit = options.devices_wait,
                                               .now = [] { return std::chrono::steady_clock::now(); },
                                               .look = look,
                                               .tell = tell,
                                               .pause = [&] { return pause(told); }}));
  metrics.Set(MetricId::kFallbackToCpu, {}, devices.fallback_to_cpu ? 1 : 0);
  return absl::OkStatus();
}

Status Daemon::Parts::MakeEngine(algebra::Arithmetic arithmetic, const DaemonSeams& seams) {
  const BuildInfo build = Build();
  metrics.Set(MetricId::kBuildInfo, {build.version, build.revision, build.cuda, build.architectures, build.compiler},
              1);
  if (seams.devices) seams.devices(devices);
  for (const LeftOut& card : devices.left_out) {
    log.Error(card.why);
    metrics.Set(MetricId::kDeviceHealthy, {StrCat(card.ordinal), card.uuid}, 0);
  }
  if (devices.fallback_to_cpu) {
    log.Warning(StrCat(devices.explanation, "; if this is intended, set devices.use = \"cpu\""));
  } else {
    log.Info(devices.explanation);
  }
  log.Info(StrCat("memory budget ", (options.memory_budget + options.server.ingress_bytes) >> 20, " MiB, of which ",
                  options.server.ingress_bytes >> 20,
                  " MiB are for messages that are being received; status and metrics show the other ",
                  options.memory_budget >> 20, " MiB"));
  if (std::string note = ParameterNote(options.engine.parameter_directory); !note.empty()) log.Warning(note);
  if (StatusOr<memory::MemoryLimits> limits = memory::DetectMemory(); limits.ok()) {
    if (std::string note = BudgetNote(options, *limits); !note.empty()) log.Warning(note);
  }
  CUZK_RETURN_IF_ERROR(SecureStateDirectory(options.engine.state_directory, log));
  engine::EngineParts engine_parts{
      .budget = &budget, .pool = &pool, .arithmetic = arithmetic, .observer = &telemetry, .seams = seams.engine};
  for (auto& device : devices.devices) engine_parts.devices.push_back(device.get());
  CUZK_ASSIGN_OR_RETURN(engine_parts.device_kinds, KindsOf(devices.devices, options.device_kinds));
  CardDriver* driver = seams.sources ? seams.sources->driver : card_driver.get();
  engine_parts.self_test = [this, driver](prover::Device& device) -> Status {
    if (device.ordinal() < 0 || driver == nullptr) return absl::OkStatus();
    MutexLock lock(driver_mutex);
    return driver->Test(device, pool);
  };
  CUZK_ASSIGN_OR_RETURN(engine, engine::Engine::Create(options.engine, engine_parts));
  WatchCards();
  telemetry.set_parameters([engine = engine.get()] { return engine->ParameterStates(); });
  idle = std::make_unique<IdleParameters>(std::set<std::string>(options.preload.begin(), options.preload.end()));
  return absl::OkStatus();
}

void Daemon::Parts::WatchCards() {
  std::vector<WatchedCard> cards;
  for (const auto& device : devices.devices) {
    if (device->ordinal() >= 0) cards.push_back({device->ordinal(), device->identity().uuid});
  }
  if (cards.empty()) return;
  auto on_fatal = [this](const WatchedCard& card, const std::string& what) {
    for (size_t i = 0; i < devices.devices.size(); ++i) {
      if (devices.devices[i]->ordinal() == card.ordinal) engine->DoubtDevice(i, what);
    }
  };
  StatusOr<std::unique_ptr<XidWatch>> watch = XidWatch::Start(cards, metrics, log, on_fatal);
  if (watch.ok()) {
    xids = *std::move(watch);
  } else {
    log.Warning("Xid errors of the cards are not counted", {{"err", std::string(watch.status().message())}});
  }
  std::vector<std::string> uuids;
  for (const WatchedCard& card : cards) uuids.push_back(card.uuid);
  // Where the driver does not tell, the page shows no temperatures: the line above has said why.
  if (StatusOr<std::unique_ptr<CardSensors>> read = CardSensors::Start(uuids); read.ok()) sensors = *std::move(read);
}

MachineFacts Daemon::Parts::Machine() const {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) name[0] = '\0';
  MachineFacts facts{.host = name.data()};
  if (sensors != nullptr) facts.cards = sensors->Latest();
  return facts;
}

engine::EngineStatus Daemon::Parts::Snapshot() const {
  engine::EngineStatus status = engine->Snapshot();
  status.not_ready = std::string(Ready().message());
  return status;
}

Status Daemon::Parts::Ready() const {
  CUZK_RETURN_IF_ERROR(readiness.Check());
  CUZK_RETURN_IF_ERROR(engine->Ready());
  return path_probe ? path_probe->Check() : absl::OkStatus();
}

void Daemon::Parts::LookForKinds() {
  std::set<std::string, std::less<>> found = ServedKinds(engine->Snapshot(), options.engine.parameter_directory);
  MutexLock lock(health_mutex);
  kinds = std::move(found);
}

void Daemon::Parts::TellHealth() {
  MutexLock lock(health_mutex);
  if (health_over) return;
  const Status ready = Ready();
  const bool same_kinds = std::exchange(told_kinds, kinds) == kinds;
  if (told_serving == ready.ok() && same_kinds) return;
  server->SetServing(ready.ok(), kinds);
  if (std::exchange(told_serving, ready.ok()) == ready.ok()) return;
  if (ready.ok()) {
    log.Info("accepting jobs");
  } else if (readiness.Check().ok()) {  // otherwise the code that set it has logged it
    log.Error(StrCat("refusing jobs: ", ready.message()));
  }
}

std::function<void(std::string_view, const std::string&)> Daemon::Parts::ConnectionEnded() {
  return [this](std::string_view reason, const std::string& text) {
    metrics.Increment(MetricId::kGrpcConnectionsEnded, {reason});
    log.Warning("gRPC", {{"err", text}});
  };
}

Status Daemon::Parts::Listen() {
  CUZK_ASSIGN_OR_RETURN(identity, MakeTlsIdentity(options.server));
  if (identity) ReportIdentity(*identity, log, metrics);
  auto ready = [this] { return Ready(); };
  auto metrics_text = [this] {
    const engine::EngineStatus status = Snapshot();
    metrics.RaiseTo(MetricId::kLogDropped, {}, static_cast<double>(log.dropped()));
    std::string text = MetricsText(status, metrics);
    return options.legacy_metrics ? text + LegacyMetricsText(status) : text;
  };
  proving = std::make_unique<ProvingService>(*engine, metrics,
                                             ProvingService::Options{.memory = &ingress,
                                                                     .cancel_abandoned = options.cancel_abandoned,
                                                                     .readiness = &readiness,
                                                                     .waiting = &waiting,
                                                                     .calls = &calls,
                                                                     .metrics_text = metrics_text},
                                             stop.get_token());
  operator_service = std::make_unique<OperatorService>(OperatorService::Parts{.memory = &ingress,
                                                                              .engine = engine.get(),
                                                                              .metrics = &metrics,
                                                                              .settings = &settings,
                                                                              .waiting = &waiting,
                                                                              .calls = &calls,
                                                                              .traces = &traces},
                                                       stop.get_token());
  CUZK_ASSIGN_OR_RETURN(server, Server::Start(options.server, {.services = {proving.get(), operator_service.get()},
                                                               .identity = identity.get(),
                                                               .calls = &calls,
                                                               .memory = &ingress,
                                                               .connection_ended = ConnectionEnded()}));
  if (options.http) {
    CUZK_ASSIGN_OR_RETURN(http, HttpServer::Start(*options.http, MakePages({.engine = engine.get(),
                                                                            .ready = ready,
                                                                            .metrics = metrics_text,
                                                                            .traces = &traces,
                                                                            .day = &day,
                                                                            .machine = [this] { return Machine(); }})));
    log.Info(StrCat("http://", options.http->host, ":", http->port(), "/status"));
  }
  LookForKinds();
  CUZK_ASSIGN_OR_RETURN(path_probe, PathProbe::Start([this] {
                          LookForKinds();
                          return server->TryListeners();
                        }));
  metrics.Increment(MetricId::kResultsNotTaken, {}, 0);  // there from the start
  metrics.Set(MetricId::kConfigReloadSuccessful, {}, 1);
  metrics.Set(MetricId::kConfigReloadTime, {}, SecondsSince1970(std::chrono::system_clock::now()));
  return absl::OkStatus();
}

void Daemon::Accept() {
  parts_->readiness.Set("");
  parts_->TellHealth();
}

Status Daemon::Preload() {
  Parts& p = *parts_;
  std::map<std::string, uint64_t> bytes;
  for (const std::string& circuit : p.options.preload) {
    if (!p.options.ready_before_preload) p.readiness.Set(StrCat("the daemon is starting: loading ", circuit));
    StatusOr<engine::PreloadResult> loaded = p.engine->Preload(circuit, p.loading.get_token());
    if (!loaded.ok()) return Annotate(loaded.status(), StrCat("params.preload: ", circuit));
    p.log.Info("parameters loaded", {{"circuit", circuit}, {"dur_ms", StrCat(loaded->load_time_ms)}});
    bytes[circuit] = 0;
    for (const prover::ParameterStatus& status : p.engine->Snapshot().parameters) {
      if (status.circuit == circuit) bytes[circuit] = std::max(bytes[circuit], status.device_bytes);
    }
  }
  CUZK_RETURN_IF_ERROR(PreloadedAreHeld(p.options.preload, bytes, p.engine->Snapshot()));
  if (!p.options.preload.empty() && !p.options.ready_before_preload) Accept();
  if (!p.loading.stop_requested()) return absl::OkStatus();
  Refuse("the daemon is draining");
  return absl::CancelledError("the daemon is stopping");
}

void Daemon::Tend(const engine::EngineStatus& status) {
  Parts& p = *parts_;
  p.calls.EndUnread(std::chrono::steady_clock::now());
  if (p.ingress.HasFallen()) malloc_trim(0);  // what a burst of messages took is not kept
  p.TellHealth();
  p.day.Add(status, std::chrono::steady_clock::now());
  if (p.stalls) {
    for (size_t device : p.stalls->See(MakeSample(status), std::chrono::steady_clock::now())) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*p.options.device_stall).count();
      p.engine->DoubtDevice(device, StrCat("it has made no progress for ", seconds, " s while others make progress"));
    }
  }
  const engine::Duration limit = p.evict_idle.load();
  for (const std::string& circuit : p.idle->Due(status, std::chrono::steady_clock::now(), limit)) {
    StatusOr<engine::EvictResult> evicted = p.engine->Evict(circuit);
    if (evicted.ok() && evicted->was_loaded) p.log.Info("idle parameters unloaded", {{"circuit", circuit}});
  }
}

void Daemon::Refuse(std::string_view why) {
  parts_->readiness.Set(why);
  parts_->TellHealth();
}

void Daemon::Drain() {
  Parts& p = *parts_;
  p.loading.request_stop();
  Refuse("the daemon is draining");
  p.log.Info("draining: accepted jobs continue, further requests are refused");
  uint32_t ended = p.engine->Drain(std::chrono::steady_clock::now() + p.drain.load());
  if (ended > 0) p.log.Warning(StrCat(ended, " jobs were ended before they finished"));
  {
    MutexLock lock(p.health_mutex);
    p.health_over = true;  // the server that tells it goes
  }
  p.server->Shutdown(std::chrono::seconds(5));
  p.log.Info("stopped");
}

void Daemon::StopNow() {
  // First the engine: clients that wait are told how their job ended. Then the waits themselves stop.
  parts_->loading.request_stop();
  parts_->engine->Drain(std::chrono::steady_clock::now());
  parts_->stop.request_stop();
}

}  // namespace cuzk::daemon
