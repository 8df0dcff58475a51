#include "daemon/app/serve.h"

#include <unistd.h>

#include <chrono>
#include <semaphore>
#include <system_error>
#include <thread>

#include "core/base/log_writer.h"
#include "daemon/app/heartbeat.h"
#include "daemon/app/inbox.h"
#include "daemon/app/supervisor.h"

namespace cuzk::daemon {
namespace {

/// How long an end at once may take: a job store that hangs would keep the process for ever.
constexpr std::chrono::seconds kLastPatience{10};

/// Between two looks for a card, and by how much each of them extends the time that systemd gives a start.
constexpr std::chrono::milliseconds kPause{1000};
constexpr std::chrono::seconds kExtendBy{120};

/// Whatever still stands in its way then: what was accepted is in the store.
void EndWithin(std::chrono::seconds patience) {
  try {
    std::thread([patience] {
      std::this_thread::sleep_for(patience);
      WriteWithin(
          STDERR_FILENO,
          StrCat(
              "cuzkd: did not stop within ", patience.count(),
              " s, possibly because the disk of jobs.state_directory hangs; exiting anyway, accepted jobs are kept\n"),
          std::chrono::seconds(1));
      _exit(static_cast<int>(DaemonExit::kTemporary));
    }).detach();
  } catch (const std::system_error&) {
    // No thread is to be had: then it takes as long as it takes.
  }
}

class Life {
 public:
  Life(const SettingSources& sources, Inbox& inbox, std::unique_ptr<Daemon> daemon)
      : sources_(sources),
        inbox_(inbox),
        daemon_(std::move(daemon)),
        heartbeat_(Heartbeat::Parts{.supervisor = &supervisor_,
                                    .log = &daemon_->log(),
                                    .snapshot = [this] { return Look(); },
                                    .watchdog = Supervisor::WatchdogInterval()}) {}

  ~Life() { drain_begins_.release(); }

  StatusOr<DaemonExit> Run();

 private:
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
  void ListenerLost();

  const SettingSources& sources_;
  Inbox& inbox_;
  Supervisor supervisor_;
  const std::unique_ptr<Daemon> daemon_;
  Heartbeat heartbeat_;
  Status loaded_;          // written before kLoaded or kLoadFailed is posted
  bool draining_ = false;  // set before the thread that drains may begin
  std::counting_semaphore<> drain_begins_{0};
  std::jthread preload_, loss_, drain_;
};

void Life::StopSignal() {
  if (draining_) {
    daemon_->log().Warning("stopping at once");
    EndWithin(kLastPatience);
    daemon_->StopNow();
    return;
  }
  Drain();
}

void Life::Drain() {
  heartbeat_.Enter(Heartbeat::Stage::kDraining);
  supervisor_.Stopping();
  draining_ = true;
  drain_begins_.release();
}

void Life::Reload() {
  if (draining_) return;
  supervisor_.Reloading();
  Status status = daemon_->Reload(Settings::Load(sources_));
  supervisor_.Say(status.ok() ? std::string("settings reloaded") : StrCat("the reload failed: ", status.message()));
  supervisor_.Ready();
}

void Life::DevicesLost() {
  daemon_->log().Error("no device is left; exiting, so that the supervisor can restart the daemon");
  daemon_->Refuse("no device is left");
  // The engine has ended or kept every job by now: there is nothing to wait for but the callers.
  if (!draining_) Drain();
}

void Life::StoreLost() {
  daemon_->log().Error(
      "the folder of jobs.state_directory was replaced by another one, in which this process keeps nothing: ending "
      "after "
      "the jobs that were accepted, so that the next start takes up the new one");
  daemon_->Refuse("the folder of jobs.state_directory was replaced: the daemon ends after its jobs");
  Drain();
}

void Life::ListenerLost() {
  daemon_->log().Error(
      "gRPC no longer accepts connections, most likely because no file descriptor is left; exiting, so that the "
      "supervisor can restart the daemon; raise LimitNOFILE of the unit");
  daemon_->Refuse("gRPC no longer accepts connections; raise LimitNOFILE");
  Drain();
}

StatusOr<DaemonExit> Life::Run() {
  // Made now: when the end comes, there may be no thread to be had.
  drain_ = std::jthread([this] {
    drain_begins_.acquire();
    if (!draining_) return;
    daemon_->Drain();
    inbox_.Post(Event::kDrained);
  });
  preload_ = std::jthread([this] {
    loaded_ = daemon_->Preload();
    inbox_.Post(loaded_.ok() ? Event::kLoaded : Event::kLoadFailed);
  });
  loss_ = std::jthread([this](std::stop_token stop) {
    const Status lost = daemon_->AwaitLoss(std::move(stop));
    if (!lost.ok()) inbox_.Post(absl::IsAborted(lost) ? Event::kStoreLost : Event::kDevicesLost);
  });
  daemon_->OnListenerLost([this] { inbox_.Post(Event::kListenerLost); });
  DaemonExit end = DaemonExit::kOk;
  while (true) {
    switch (inbox_.Next()) {
      case Event::kLoaded:
        if (draining_) break;
        heartbeat_.Enter(Heartbeat::Stage::kServing);
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
      case Event::kListenerLost:
        if (draining_) break;
        end = DaemonExit::kInternal;
        ListenerLost();
        break;
      case Event::kDrained:
        return end;
    }
  }
}

}  // namespace

StatusOr<DaemonExit> Serve(const SettingSources& sources, const Settings& settings, const DaemonOptions& options,
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
  return Life(sources, inbox, *std::move(daemon)).Run();
}

}  // namespace cuzk::daemon
