#pragma once
// The inside of Daemon.

#include <atomic>
#include <set>
#include <stop_token>

#include "core/base/metrics/metrics.h"
#include "core/base/mutex.h"
#include "core/base/thread_pool.h"
#include "daemon/app/cards/card_sensors.h"
#include "daemon/app/cards/xid_watch.h"
#include "daemon/app/daemon.h"
#include "daemon/app/parameters/idle_parameters.h"
#include "daemon/app/parameters/path_probe.h"
#include "daemon/app/parameters/served_kinds.h"
#include "daemon/app/process/library_log.h"
#include "daemon/app/telemetry.h"
#include "daemon/app/watch/stall_watch.h"
#include "daemon/common/readiness.h"
#include "daemon/grpc/call_watch.h"
#include "daemon/grpc/operator_service.h"
#include "daemon/grpc/proving_service.h"
#include "daemon/grpc/server.h"
#include "daemon/grpc/waiting_calls.h"
#include "daemon/http/day_record.h"
#include "daemon/http/http_server.h"
#include "daemon/http/status_json.h"
#include "daemon/settings/live_settings.h"

namespace cuzk::daemon {

// Destroyed from the bottom up: servers, services, engine, devices, pool.
struct Daemon::Parts {
  Parts(const Settings& s, const DaemonOptions& o)
      : settings(s),
        options(o),
        log(o.log),
        drain(o.drain),
        evict_idle(o.evict_idle),
        budget(o.memory_budget),
        pool(o.pool_threads),
        waiting(o.server.max_threads),
        calls(waiting, o.server.keepalive_timeout),
        ingress(o.server.ingress_bytes),
        telemetry(log, metrics) {
    if (o.device_stall) stalls.emplace(*o.device_stall);
  }

  /// Finds the devices, waiting for cards where that may help. Errors as of Daemon::Start.
  Status PickDevices(algebra::Arithmetic arithmetic, const Pause& pause, const DaemonSeams& seams);
  Status MakeEngine(algebra::Arithmetic arithmetic, const DaemonSeams& seams);
  /// The machine as the live page shows it.
  MachineFacts Machine() const;
  /// Errors of cards are counted from then on; where the driver does not report them, the log says so.
  void WatchCards();
  Status Listen();
  /// Counts and logs connections that the server refuses or ends; the parts must outlive it.
  std::function<void(std::string_view reason, const std::string& text)> ConnectionEnded();
  /// OK while jobs are taken; UNAVAILABLE with the reason otherwise.
  Status Ready() const;
  /// The engine's, with what Ready says.
  engine::EngineStatus Snapshot() const;
  /// Looks up which kinds can be served; may hang with the disk of the parameters.
  void LookForKinds();
  /// Health says what Ready does, and for a kind whether it can be served.
  void TellHealth();
  /// An error leaves everything as it was.
  Status Reload(const StatusOr<Settings>& read);

  LiveSettings settings;
  const DaemonOptions options;
  Logger log;
  LibraryLog library_log{log};
  Metrics metrics;
  Readiness readiness;
  std::atomic<std::chrono::milliseconds> drain, evict_idle;
  std::stop_source stop, loading;
  memory::Budget budget;
  ThreadPool pool;
  WaitingCalls waiting;
  CallWatch calls;
  IngressMemory ingress;
  FewAtOnce traces{4};
  Telemetry telemetry;
  const std::unique_ptr<CardDriver> card_driver = MakeCardDriver();
  DeviceChoice devices;
  std::unique_ptr<CardSensors> sensors;  // null: no card, or the driver tells nothing
  DayRecord day;
  Mutex driver_mutex;                ///< of the driver, which serves one thread at a time
  std::optional<StallWatch> stalls;  ///< of the thread that calls Tend
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<XidWatch> xids;
  std::unique_ptr<IdleParameters> idle;
  std::unique_ptr<ProvingService> proving;
  std::unique_ptr<OperatorService> operator_service;
  std::unique_ptr<TlsIdentity> identity;
  std::unique_ptr<Server> server;
  std::unique_ptr<HttpServer> http;
  std::unique_ptr<PathProbe> path_probe;
  Mutex health_mutex;
  bool told_serving ABSL_GUARDED_BY(health_mutex) = false;
  bool health_over ABSL_GUARDED_BY(health_mutex) = false;                       // nothing is told any more
  std::set<std::string, std::less<>> kinds ABSL_GUARDED_BY(health_mutex);       // as looked up
  std::set<std::string, std::less<>> told_kinds ABSL_GUARDED_BY(health_mutex);  // as health says
};

/// Says in metrics until when the certificate holds, and warns in the log if clients will not accept it.
void ReportIdentity(const TlsIdentity& identity, Logger& log, Metrics& metrics);
double SecondsSince1970(std::chrono::system_clock::time_point time);

}  // namespace cuzk::daemon
