#include "daemon/app/supervisor.h"

#include <systemd/sd-daemon.h>

#include <ctime>

#include "core/base/log.h"
#include "core/base/text.h"

namespace cuzk::daemon {
namespace {

void Send(const std::string& state) { sd_notify(0, state.c_str()); }

}  // namespace

void Supervisor::Ready() { Send("READY=1"); }

void Supervisor::Reloading() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  Send(StrCat("RELOADING=1\nMONOTONIC_USEC=",
              static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000));
}

void Supervisor::Stopping() { Send("STOPPING=1"); }

void Supervisor::Say(std::string_view status) {
  {
    std::lock_guard lock(mutex_);
    if (status == said_) return;
    said_ = status;
  }
  Send(StrCat("STATUS=", EscapeControl(status)));
}

void Supervisor::Extend(std::chrono::microseconds time) { Send(StrCat("EXTEND_TIMEOUT_USEC=", time.count())); }

void Supervisor::Ping() { Send("WATCHDOG=1"); }

std::optional<std::chrono::microseconds> Supervisor::WatchdogInterval() {
  uint64_t microseconds = 0;
  if (sd_watchdog_enabled(0, &microseconds) <= 0 || microseconds == 0) return std::nullopt;
  return std::chrono::microseconds(microseconds);
}

}  // namespace cuzk::daemon
