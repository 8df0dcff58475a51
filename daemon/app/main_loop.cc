#include "daemon/app/main_loop.h"

#include <unistd.h>

#include <chrono>
#include <semaphore>
#include <thread>

#include "core/base/log_writer.h"
#include "core/base/thread.h"
#include "daemon/app/process/inbox.h"
#include "daemon/app/watch/heartbeat.h"
#include "daemon/app/watch/supervisor.h"

namespace cuzk::daemon {
namespace {

/// How long an end at once may take: a job store that hangs would keep the process for ever.
constexpr std::chrono::seconds kLastPatience{10};

/// Between two looks for a card, and by how much each of them extends the time that systemd gives a start.
constexpr std::chrono::milliseconds kPause{1000};
constexpr std::chrono::seconds kExtendBy{120};

/// Ends the process then, whatever keeps it: accepted jobs are in the store. Without a thread it takes as long as it
/// takes.
void EndWithin(std::chrono::seconds patience) {
  StatusOr<std::jthread> thread = StartThread("the end", [patience] {
    std::this_thread::sleep_for(patience);
    WriteWithin(
        STDERR_FILENO,
        StrCat("cuzkd: did not stop within ", patience.count(),
               " s, possibly because the disk of jobs.state_directory hangs; exiting anyway, accepted jobs are kept\n"),
        std::chrono::seconds(1));
    _exit(static_cast<int>(DaemonExit::kTemporary));
  });
  if (thread.ok()) thread->detach();
}

class MainLoop {
 public:
  MainLoop(const SettingSources& sources, Inbox& inbox, std::unique_ptr<Daemon> daemon)
      : sources_(sources), inbox_(inbox), daemon_(std::move(daemon)) {}

  ~MainLoop() { drain_begins_.release(); }

  StatusOr<DaemonExit> Run();

 private:
  Status StartThreads();
  engine::EngineStatus Look() {
    engine::EngineStatus status = daemon_->Snapshot();
    daemon_->Tend(status);
    return status;
  }
  void StopSignal();
  void Drain();
  void Reload();
  void DevicesLost();
  void StoreLost();

  const SettingSources& sources_;
  Inbox& inbox_;
  Supervisor supervisor_;
  const std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<Heartbeat> heartbeat_;
  Status loaded_;          // written before kLoaded or kLoadFailed is posted
  bool draining_ = false;  // set before the thread that drains may begin
  std::counting_semaphore<> drain_begins_{0};
  std::jthread preload_, loss_, drain_;
};

void MainLoop::StopSignal() {
  if (draining_) {
    daemon_->log().Warning("stopping at once");
    EndWithin(kLastPatience);
    daemon_->StopNow();
    return;
  }
  Drain();
}

void MainLoop::Drain() {
  heartbeat_->Enter(Heartbeat::Stage::kDraining);
  supervisor_.Stopping();
  draining_ = true;
  drain_begins_.release();
}

void MainLoop::Reload() {
  if (draining_) return;
  supervisor_.Reloading();
  Status status = daemon_->Reload(Settings::Load(sources_));
  supervisor_.Say(status.ok() ? std::string("settings reloaded") : StrCat("the reload failed: ", status.message()));
  supervisor_.Ready();
}

void MainLoop::DevicesLost() {
  daemon_->log().Error("no device is left; exiting, so that the supervisor can restart the daemon");
  daemon_->Refuse("no device is left");
  // The engine has ended or kept every job by now: there is nothing to wait for but the callers.
  if (!draining_) Drain();
}

void MainLoop::StoreLost() {
  daemon_->log().Error(
      "the directory of jobs.state_directory was replaced, so this process can no longer keep jobs in it; exiting "
      "after "
      "the accepted jobs, so that the next start uses the new directory");
  daemon_->Refuse("the directory of jobs.state_directory was replaced; the daemon exits after its accepted jobs");
  Drain();
}

Status MainLoop::StartThreads() {
  CUZK_ASSIGN_OR_RETURN(heartbeat_, Heartbeat::Start({.supervisor = &supervisor_,
                                                      .log = &daemon_->log(),
                                                      .snapshot = [this] { return Look(); },
                                                      .watchdog = Supervisor::WatchdogInterval()}));
  // Made now: when the end comes, the system may have no thread for it.
  CUZK_ASSIGN_OR_RETURN(drain_, StartThread("draining", [this] {
                          drain_begins_.acquire();
                          if (!draining_) return;
                          daemon_->Drain();
                          inbox_.Post(Event::kDrained);
                        }));
  CUZK_ASSIGN_OR_RETURN(preload_, StartThread("loading parameters", [this] {
                          loaded_ = daemon_->Preload();
                          inbox_.Post(loaded_.ok() ? Event::kLoaded : Event::kLoadFailed);
                        }));
  CUZK_ASSIGN_OR_RETURN(loss_, StartThread("watching devices", [this](std::stop_token stop) {
                          const Status lost = daemon_->AwaitLoss(std::move(stop));
                          if (lost.ok()) return;
                          inbox_.Post(absl::IsAborted(lost) ? Event::kStoreLost : Event::kDevicesLost);
                        }));
  return absl::OkStatus();
}

StatusOr<DaemonExit> MainLoop::Run() {
  CUZK_RETURN_IF_ERROR(StartThreads());
  DaemonExit end = DaemonExit::kOk;
  while (true) {
    switch (inbox_.Next()) {
      case Event::kLoaded:
        if (draining_) break;
        heartbeat_->Enter(Heartbeat::Stage::kServing);
        supervisor_.Ready();
        break;
      case Event::kLoadFailed:
        if (draining_) break;
        return loaded_;
      case Event::kReloadSignal:
        Reload();
        break;
      case Event::kStopSignal:
        StopSignal();
        break;
      case Event::kDevicesLost:
        end = DaemonExit::kInternal;
        DevicesLost();
        break;
      case Event::kStoreLost:
        if (draining_) break;
        end = DaemonExit::kTemporary;
        StoreLost();
        break;
      case Event::kDrained:
        return end;
    }
  }
}

}  // namespace

StatusOr<DaemonExit> RunMainLoop(const SettingSources& sources, const Settings& settings, const DaemonOptions& options,
                                 const DaemonSeams& seams) {
  Inbox inbox;
  Supervisor supervisor;
  auto pause = [&](const std::string& why) {
    supervisor.Say(StrCat("waiting for a card: ", why));
    supervisor.Extend(kExtendBy);
    return inbox.NextWithin(kPause) != Event::kStopSignal;
  };
  StatusOr<std::unique_ptr<Daemon>> daemon = Daemon::Start(settings, options, pause, seams);
  if (absl::IsCancelled(daemon.status())) return DaemonExit::kOk;
  if (!daemon.ok()) return daemon.status();
  return MainLoop(sources, inbox, *std::move(daemon)).Run();
}

}  // namespace cuzk::daemon
