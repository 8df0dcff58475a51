// doctor: whether this machine is fit for the daemon, and what to do where it is not.

#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/log.h"
#include "daemon/common/json_writer.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/ctl/doctor/finding.h"
#include "daemon/settings/options.h"

namespace cuzk::daemon {
namespace {

using Level = Finding::Level;

void Append(Findings& all, Findings more) {
  for (Finding& finding : more) all.push_back(std::move(finding));
}

Finding CheckProcessor() {
  Status status = algebra::CheckProcessor();
  if (!status.ok()) {
    return {Level::kFail, "processor", StrCat(status.message()), "use a machine with AVX2, FMA, BMI2 and ADX"};
  }
  StatusOr<algebra::Arithmetic> best = algebra::ResolveArithmetic(std::nullopt);
  bool ifma = best.ok() && *best == algebra::Arithmetic::kIfma;
  return {Level::kOk, "processor", ifma ? "AVX-512 IFMA is used" : "AVX2 and FMA; no AVX-512 IFMA"};
}

Finding CheckSettings(const Session& session) {
  if (!session.trouble.ok()) {
    return {Level::kFail, "settings", StrCat(session.trouble.message()),
            "correct the setting; cuzkd --check-config repeats the check"};
  }
  if (StatusOr<DaemonOptions> options = MakeOptions(session.settings); !options.ok()) {
    return {Level::kFail, "settings", StrCat(options.status().message()),
            "correct the setting; cuzkd --check-config repeats the check"};
  }
  return {Level::kOk, "settings", "valid"};
}

ControlExit Print(const Findings& findings, bool as_json) {
  Level worst = Level::kOk;
  for (const Finding& finding : findings) worst = std::max(worst, finding.level);
  if (as_json) {
    JsonWriter json;
    json.BeginObject().Member("worst", LevelName(worst)).Key("findings").BeginArray();
    for (const Finding& f : findings) {
      json.BeginObject().Member("check", f.check).Member("level", LevelName(f.level));
      json.Member("said", f.said).Member("advice", f.advice).EndObject();
    }
    PrintLine(json.EndArray().EndObject().text());
  } else {
    for (const Finding& f : findings) {
      std::string level(LevelName(f.level));
      level.resize(5, ' ');
      PrintLine(StrCat(level, " ", f.check, ": ", EscapeControl(f.said)));
      if (!f.advice.empty()) PrintLine(StrCat("        -> ", EscapeControl(f.advice)));
    }
  }
  if (worst == Level::kFail) return ControlExit::kFailed;
  return worst == Level::kWarn ? ControlExit::kWarning : ControlExit::kOk;
}

StatusOr<ControlExit> RunDoctor(const Session& session, bool digests) {
  Findings all{CheckProcessor(), CheckSettings(session)};
  RunningSettings running = AskForSettings(session);
  const Settings& used = running.settings ? *running.settings : session.settings;
  Append(all, CheckMachine("/", used));
  Append(all, CheckDevices("/", used));
  Append(all, CheckKernelLog("/"));
  Append(all, CheckParameters(used, digests));
  Append(all, CheckDisk(used));
  Append(all, CheckState(used));
  DaemonFindings daemon = CheckDaemon(session);
  Append(all, std::move(daemon.findings));
  Append(all, std::move(running.findings));
  Append(all, CheckLimits("/", daemon.pid));
  return Print(all, session.json);
}

}  // namespace

std::string_view LevelName(Level level) {
  switch (level) {
    case Level::kOk:
      return "ok";
    case Level::kWarn:
      return "warn";
    case Level::kFail:
      return "fail";
  }
  return "";
}

void AddDoctor(CLI::App& program, Commands& commands) {
  auto digests = std::make_shared<bool>(false);
  CLI::App* doctor = program.add_subcommand("doctor", "Check the driver, cards, memory, limits, files and the daemon");
  doctor->add_flag("--digests", *digests,
                   "Also read every parameter file and compare it with its published digest or development record");
  commands.push_back({.app = doctor,
                      .action = [digests](const Session& session) { return RunDoctor(session, *digests); },
                      .tolerant = true});
}

}  // namespace cuzk::daemon
