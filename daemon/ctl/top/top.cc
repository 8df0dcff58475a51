// top: a live view of the daemon.

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "core/base/mutex.h"
#include "core/base/thread.h"
#include "daemon/common/convert.h"
#include "daemon/ctl/connection/client.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/ctl/output/terminal.h"
#include "daemon/ctl/top/screen.h"
#include "daemon/ctl/top/state.h"

namespace cuzk::daemon {
namespace {

using Clock = std::chrono::steady_clock;

struct TopFlags {
  std::string interval = "1s";
  unsigned count = 0;  // 0: until it is ended
};

double Seconds() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

// Keeps a state up to date: news of jobs come on a thread of their own, the rest is asked for.
class Follower {
 public:
  static StatusOr<std::unique_ptr<Follower>> Start(const Session& session) {
    CUZK_ASSIGN_OR_RETURN(Client client, Client::Connect(session));
    std::unique_ptr<Follower> follower(new Follower(std::move(client), session.address));
    CUZK_ASSIGN_OR_RETURN(
        follower->watcher_,
        StartThread("news of jobs", [f = follower.get()](const std::stop_token& stop) { f->Watch(stop); }));
    return follower;
  }

  ~Follower() {
    MutexLock lock(mutex_);
    watcher_.request_stop();
    if (watching_) watching_->TryCancel();
  }

  /// Asks once; the error is in the picture too.
  Status Ask() {
    v1::GetStatusResponse status;
    v1::GetMetricsResponse metrics;
    grpc::ClientContext for_status, for_metrics;
    auto deadline = std::chrono::system_clock::now() + std::chrono::seconds(3);
    for_status.set_deadline(deadline);
    for_metrics.set_deadline(deadline);
    Status answered = FromDaemon(client_.proving->GetStatus(&for_status, {}, &status));
    if (answered.ok()) answered = FromDaemon(client_.proving->GetMetrics(&for_metrics, {}, &metrics));
    MutexLock lock(mutex_);
    if (answered.ok()) {
      state_.Answered(status, metrics.prometheus_text(), Seconds());
    } else {
      state_.Failed(StrCat(answered.message()));
    }
    return answered;
  }

  TopPicture Picture() {
    MutexLock lock(mutex_);
    return state_.Picture(Seconds());
  }

 private:
  Follower(Client client, const std::string& address) : client_(std::move(client)), state_(address) {}

  void Watch(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      grpc::ClientContext context;
      {
        MutexLock lock(mutex_);
        if (stop.stop_requested()) return;
        watching_ = &context;
        state_.WatchRestarted();
      }
      auto stream = client_.operators->Watch(&context, {});
      cuzkd::v1::JobProgress progress;
      while (stream->Read(&progress)) {
        MutexLock lock(mutex_);
        state_.Watched(progress, Seconds());
      }
      stream->Finish();
      {
        MutexLock lock(mutex_);
        watching_ = nullptr;
      }
      for (int i = 0; i < 10 && !stop.stop_requested(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  Client client_;
  Mutex mutex_;
  TopState state_ ABSL_GUARDED_BY(mutex_);
  grpc::ClientContext* watching_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::jthread watcher_;  // last: ends before the rest
};

// Changes the view as the key says.
void Press(char key, TopView& view) {
  constexpr size_t kPage = 10;
  if (key == '?' || key == 'h') view.help = !view.help;
  if (key == 's') view.order = NextOrder(view.order);
  if (key == 'j') view.scroll += 1;
  if (key == ' ') view.scroll += kPage;
  if (key == 'k') view.scroll -= std::min<size_t>(view.scroll, 1);
  if (key == 'b') view.scroll -= std::min(view.scroll, kPage);
  if (key == 'g') view.scroll = 0;
}

void Draw(Screen& screen, const TopPicture& picture, TopView& view) {
  const bool coloured = std::getenv("NO_COLOR") == nullptr;
  const ScreenSize size = screen.size();
  std::vector<std::string> lines;
  for (const TopLine& line : DrawTop(picture, view, size.columns, size.rows)) {
    lines.push_back(coloured ? Coloured(line) : line.text);
  }
  screen.Draw(lines);
}

// Ends at q, Ctrl-C, a signal, or after `count` pictures; then the last answer decides.
StatusOr<ControlExit> OnScreen(Screen& screen, Follower& follower, std::chrono::milliseconds interval, unsigned count) {
  TopView view{.keys = true};
  for (unsigned shown = 1;; ++shown) {
    const Status asked = follower.Ask();  // the picture shows an error
    auto next = Clock::now() + interval;
    while (true) {
      Draw(screen, follower.Picture(), view);
      auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now());
      if (left.count() <= 0) break;
      ScreenEvent event = screen.Wait(left);
      if (event.kind == ScreenEvent::Kind::kEnd) return ControlExit::kOk;
      if (event.kind == ScreenEvent::Kind::kKey && (event.key == 'q' || event.key == 'Q')) return ControlExit::kOk;
      if (event.kind == ScreenEvent::Kind::kKey) Press(event.key, view);
      if (event.kind == ScreenEvent::Kind::kTimeout) break;
    }
    if (count > 0 && shown >= count) {
      CUZK_RETURN_IF_ERROR(asked);
      return ControlExit::kOk;
    }
  }
}

// One picture after the other, for a log or a program. Ends with an error when the daemon does.
StatusOr<ControlExit> AsText(const Session& session, Follower& follower, std::chrono::milliseconds interval,
                             unsigned count) {
  constexpr size_t kColumns = 120;
  for (unsigned shown = 1;; ++shown) {
    CUZK_RETURN_IF_ERROR(follower.Ask());
    if (shown == 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the first news of jobs
    TopPicture picture = follower.Picture();
    if (session.json) {
      PrintLine(TopJson(picture));
    } else {
      TopView view;
      for (const TopLine& line : DrawTop(picture, view, kColumns, 0)) PrintLine(line.text);
      PrintLine("");
    }
    if (count > 0 && shown >= count) return ControlExit::kOk;
    std::this_thread::sleep_for(interval);
  }
}

StatusOr<ControlExit> RunTop(const Session& session, const TopFlags& flags) {
  StatusOr<std::chrono::milliseconds> interval = ParseDuration(flags.interval);
  if (!interval.ok()) return UsageMistake(Annotate(interval.status(), "--interval"));
  if (interval->count() < 100) return UsageMistake(absl::InvalidArgumentError("--interval: must be at least 100ms"));
  // First the screen: threads made later inherit its blocked signals.
  std::unique_ptr<Screen> screen;
  if (!session.json && IsScreen()) {
    CUZK_ASSIGN_OR_RETURN(screen, Screen::Take());
  }
  CUZK_ASSIGN_OR_RETURN(std::unique_ptr<Follower> follower, Follower::Start(session));
  if (screen) return OnScreen(*screen, *follower, *interval, flags.count);
  return AsText(session, *follower, *interval, flags.count);
}

}  // namespace

void AddTop(CLI::App& program, Commands& commands) {
  auto flags = std::make_shared<TopFlags>();
  CLI::App* top = program.add_subcommand("top", "Show a live view of the queue, jobs, devices and memory; q ends it");
  top->add_option("--interval", flags->interval, "Time between two refreshes, at least 100ms")->capture_default_str();
  top->add_option("--count", flags->count, "Number of refreshes after which the program ends; 0: no limit");
  commands.push_back({top, [flags](const Session& session) { return RunTop(session, *flags); }});
}

}  // namespace cuzk::daemon
