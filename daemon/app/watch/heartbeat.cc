#include "daemon/app/watch/heartbeat.h"

#include <algorithm>
#include <utility>

#include "core/base/mutex.h"
#include "core/base/text.h"
#include "core/base/thread.h"

namespace cuzk::daemon {
namespace {

constexpr std::chrono::milliseconds kLongestPause{1000};
constexpr std::chrono::seconds kExtendEvery{3};
constexpr std::chrono::seconds kExtendBy{120};

std::string LoadingLine(const engine::EngineStatus& status) {
  for (const prover::ParameterStatus& parameters : status.parameters) {
    if (parameters.state != prover::ParameterStatus::State::kLoading) continue;
    return StrCat("loading ", parameters.circuit, " ", static_cast<int>(parameters.fraction * 100), " %");
  }
  return "loading parameters";
}

}  // namespace

std::string StatusLine(const engine::EngineStatus& status, Heartbeat::Stage stage) {
  if (stage == Heartbeat::Stage::kLoading) return LoadingLine(status);
  uint32_t pending = 0, running = 0;
  for (const auto& [kind, counts] : status.kinds) {
    pending += counts.pending;
    running += counts.in_progress;
  }
  std::string jobs = StrCat(running, " running, ", pending, " queued");
  if (stage == Heartbeat::Stage::kDraining) return StrCat("draining: ", jobs);
  return status.not_ready.empty() ? StrCat("serving: ", jobs) : StrCat("refusing jobs: ", status.not_ready);
}

StatusOr<std::unique_ptr<Heartbeat>> Heartbeat::Start(Parts parts) {
  std::unique_ptr<Heartbeat> heartbeat(new Heartbeat(std::move(parts)));
  if (heartbeat->parts_.watchdog) heartbeat->liveness_.emplace(*heartbeat->parts_.watchdog);
  auto run = [h = heartbeat.get()](std::stop_token stop) { h->Run(std::move(stop)); };
  CUZK_ASSIGN_OR_RETURN(heartbeat->thread_, StartThread("the heartbeat", run));
  return heartbeat;
}

Heartbeat::~Heartbeat() = default;

void Heartbeat::Run(std::stop_token stop) {
  engine::Duration pause = kLongestPause;
  if (parts_.watchdog) pause = std::min<engine::Duration>(pause, *parts_.watchdog / 8);
  Mutex mutex;
  Condition never;
  MutexLock lock(mutex);
  while (!stop.stop_requested()) {
    Look(std::chrono::steady_clock::now());
    const TimePoint next = std::chrono::steady_clock::now() + pause;
    while (!stop.stop_requested() && never.WaitUntil(mutex, next, stop)) {
    }
  }
}

void Heartbeat::Look(engine::TimePoint now) {
  const engine::EngineStatus status = parts_.snapshot();
  const Stage stage = stage_;
  const std::string line = StatusLine(status, stage);
  parts_.supervisor->Say(line);
  if (stage != Stage::kServing) Extend(line, now);
  if (liveness_) Watch(status, now);
}

void Heartbeat::Watch(const engine::EngineStatus& status, engine::TimePoint now) {
  liveness_->See(MakeSample(status), now);
  std::string stuck = liveness_->Stuck(now);
  if (stuck != stuck_) {
    if (stuck.empty()) {
      parts_.log->Info(StrCat("watchdog: there is progress again after: ", stuck_));
    } else {
      parts_.log->Error(StrCat("watchdog: ", stuck, "; systemd will end this process"));
    }
    stuck_ = stuck;
  }
  if (!stuck.empty() || now - pinged_ < *parts_.watchdog / 2) return;
  pinged_ = now;
  parts_.supervisor->Ping();
}

void Heartbeat::Extend(const std::string& said, engine::TimePoint now) {
  // Draining goes on for as long as jobs.drain allows, whether or not a partition ends in that time.
  if (now - extended_ < kExtendEvery || (stage_ == Stage::kLoading && said == extended_for_)) return;
  extended_ = now;
  extended_for_ = said;
  parts_.supervisor->Extend(kExtendBy);
}

}  // namespace cuzk::daemon
