// cuzkd: the composition root of the daemon.

#include <signal.h>
#include <systemd/sd-daemon.h>

#include <cstdio>
#include <string>
#include <thread>

#include "core/algebra/cpu_arithmetic.h"
#include "daemon/command_line.h"
#include "daemon/daemon.h"
#include "daemon/exit_code.h"

namespace cuzk::daemon {
namespace {

int Fail(const Status& status, DaemonExit code) {
  std::string text = EscapeControl(StrCat(status.message()));
  std::fprintf(stderr, "cuzkd: %s\n", text.c_str());
  return static_cast<int>(code);
}

// The signals that main waits for; blocked before any thread is made, so that every thread inherits that.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return signals;
}

// The first SIGTERM or SIGINT drains, the second stops at once; both end with 0.
int ServeUntilSignalled(Daemon& daemon, const sigset_t& signals) {
  std::jthread drain;
  while (true) {
    int signal = 0;
    sigwait(&signals, &signal);
    if (signal == SIGUSR1) break;  // from the drain below
    if (signal == SIGHUP) {
      daemon.log().Info("SIGHUP: no setting can be changed while running");
    } else if (drain.joinable()) {
      daemon.log().Warning("stopping at once");
      daemon.StopNow();
    } else {
      sd_notify(0, "STOPPING=1\nSTATUS=draining");
      drain = std::jthread([&daemon] {
        daemon.Drain();
        kill(getpid(), SIGUSR1);
      });
    }
  }
  return static_cast<int>(DaemonExit::kOk);
}

int Run(const CommandLine& line) {
  if (line.task == Task::kPrintDefaults) {
    std::fputs(PrintDefaults().c_str(), stdout);
    return 0;
  }
  SettingSources sources = line.sources;
  sources.environment = ProcessEnvironment();
  StatusOr<Settings> settings = Settings::Load(sources);
  if (!settings.ok()) return Fail(settings.status(), DaemonExit::kConfig);
  StatusOr<DaemonOptions> options = MakeOptions(*settings);
  if (!options.ok()) return Fail(options.status(), DaemonExit::kConfig);
  if (line.task == Task::kPrintConfig) {
    std::fputs(PrintConfig(*settings).c_str(), stdout);
    return 0;
  }
  if (line.task == Task::kCheckConfig) return 0;

  if (Status processor = algebra::CheckProcessor(); !processor.ok()) return Fail(processor, DaemonExit::kUnavailable);
  sigset_t signals = BlockSignals();
  StatusOr<std::unique_ptr<Daemon>> daemon = Daemon::Start(*settings, *options);
  if (!daemon.ok()) return Fail(daemon.status(), DaemonExitOf(daemon.status()));
  sd_notify(0, "READY=1\nSTATUS=serving");
  return ServeUntilSignalled(**daemon, signals);
}

}  // namespace
}  // namespace cuzk::daemon

int main(int argc, char** argv) {
  auto parsed = cuzk::daemon::ParseCommandLine(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  return cuzk::daemon::Run(std::get<cuzk::daemon::CommandLine>(parsed));
}
