#include "daemon/app/watch/supervisor.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "core/base/log.h"
#include "core/base/text.h"

namespace cuzk::daemon {
namespace {

// Where $NOTIFY_SOCKET says that systemd listens: a path, or a name in the abstract namespace after '@'. Nothing if it
// says neither.
std::optional<std::pair<sockaddr_un, socklen_t>> NotifyAddress() {
  const char* name = std::getenv("NOTIFY_SOCKET");
  if (name == nullptr || (name[0] != '/' && name[0] != '@')) return std::nullopt;
  const std::string_view path(name);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() < 2 || path.size() >= sizeof address.sun_path) return std::nullopt;
  std::copy(path.begin(), path.end(), address.sun_path);
  if (path[0] == '@') address.sun_path[0] = '\0';
  return std::pair(address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size()));
}

// The decimal number that an environment variable holds, if it is one and nothing else.
std::optional<uint64_t> NumberFrom(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return std::nullopt;
  const std::string_view text(value);
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

Supervisor::Supervisor() {
  if (NotifyAddress()) socket_.Reset(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

// The whole protocol of sd_notify(3) is one datagram. A message that cannot be sent is left out: the daemon works
// without systemd.
void Supervisor::Send(std::string_view state) {
  const auto address = NotifyAddress();
  if (!address || !socket_.open()) return;
  (void)sendto(socket_.get(), state.data(), state.size(), MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&address->first), address->second);
}

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
    MutexLock lock(mutex_);
    if (status == said_) return;
    said_ = status;
  }
  Send(StrCat("STATUS=", EscapeControl(status)));
}

void Supervisor::Extend(std::chrono::microseconds time) { Send(StrCat("EXTEND_TIMEOUT_USEC=", time.count())); }

void Supervisor::Ping() { Send("WATCHDOG=1"); }

std::optional<std::chrono::microseconds> Supervisor::WatchdogInterval() {
  const std::optional<uint64_t> microseconds = NumberFrom("WATCHDOG_USEC");
  if (!microseconds || *microseconds == 0 || *microseconds > INT64_MAX) return std::nullopt;
  // Without WATCHDOG_PID the interval is meant for every process that sees it.
  if (std::getenv("WATCHDOG_PID") != nullptr && NumberFrom("WATCHDOG_PID") != static_cast<uint64_t>(getpid())) {
    return std::nullopt;
  }
  return std::chrono::microseconds(*microseconds);
}

}  // namespace cuzk::daemon
