// Settings that are read again while the daemon runs.

#include <utility>

#include "daemon/app/daemon_parts.h"

namespace cuzk::daemon {
namespace {

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += StrCat(text.empty() ? "" : ", ", name);
  return text;
}

// Whether TLS and clients' certificates are asked for is settled when the ports are opened; their files are not.
Settings KeepTlsMode(const Settings& running, Settings next, ReloadChanges& changes) {
  for (const char* name : {"tls.certificate", "tls.key", "tls.client_ca"}) {
    if (running.Text(name).empty() == next.Text(name).empty()) continue;
    changes.need_restart.emplace_back(name);
    next.Take(running, name);
  }
  return next;
}

}  // namespace

double SecondsSince1970(std::chrono::system_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

void ReportIdentity(const TlsIdentity& identity, Logger& log, Metrics& metrics) {
  std::shared_ptr<const TlsMaterial> material = identity.material();
  metrics.Set(MetricId::kTlsExpiry, {}, SecondsSince1970(material->not_after));
  const auto now = std::chrono::system_clock::now();
  if (now > material->not_after) log.Warning("tls.certificate has expired; clients will refuse it");
  if (now < material->not_before) log.Warning("tls.certificate is not valid yet; clients will refuse it");
}

Status Daemon::Parts::Reload(const StatusOr<Settings>& read) {
  if (!read.ok()) return read.status();
  CUZK_RETURN_IF_ERROR(MakeOptions(*read).status());
  ReloadChanges changes;
  const Settings running = settings.Get();
  Settings next = running.Reloaded(KeepTlsMode(running, *read, changes), changes);
  CUZK_ASSIGN_OR_RETURN(DaemonOptions now, MakeOptions(next));
  if (identity) {
    CUZK_ASSIGN_OR_RETURN(TlsMaterial material, ReadTlsMaterial(now.server.tls));
    CUZK_RETURN_IF_ERROR(identity->Replace(std::move(material)));
    ReportIdentity(*identity, log, metrics);
  }
  // Nothing below can fail.
  log.SetLevel(now.log.level);
  drain = now.drain;
  evict_idle = now.evict_idle;
  engine->SetLimits({.max_unfinished_jobs = now.engine.max_unfinished_jobs,
                     .max_results = now.engine.max_results,
                     .result_age = now.engine.result_age,
                     .max_job_time = now.engine.max_job_time,
                     .history = now.engine.history});
  settings.Set(std::move(next));
  if (!changes.applied.empty()) log.Info(StrCat("settings changed: ", Joined(changes.applied)));
  if (!changes.need_restart.empty()) {
    log.Warning(StrCat("these settings changed but need a restart: ", Joined(changes.need_restart)));
  }
  return absl::OkStatus();
}

Status Daemon::Reload(const StatusOr<Settings>& next) {
  Parts& p = *parts_;
  Status status = p.Reload(next);
  p.metrics.Set(MetricId::kConfigReloadSuccessful, {}, status.ok() ? 1 : 0);
  if (status.ok()) {
    p.metrics.Set(MetricId::kConfigReloadTime, {}, SecondsSince1970(std::chrono::system_clock::now()));
    p.log.Info("settings and certificates reloaded");
  } else {
    p.log.Error("the reload failed; the previous settings stay in force", {{"err", std::string(status.message())}});
  }
  return status;
}

}  // namespace cuzk::daemon
