#include "daemon/app/process/inbox.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>

#include "core/base/check.h"

namespace cuzk::daemon {

Inbox::Inbox() {
  for (int ignored : {SIGPIPE, SIGUSR1, SIGUSR2}) ::signal(ignored, SIG_IGN);
  sigset_t ours;
  sigemptyset(&ours);
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&ours, signal);
  CUZK_CHECK(pthread_sigmask(SIG_BLOCK, &ours, nullptr) == 0);
  signals_ = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
  posted_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
  CUZK_CHECK(signals_ >= 0 && posted_ >= 0);
}

Inbox::~Inbox() {
  close(signals_);
  close(posted_);
}

void Inbox::Post(Event event) {
  {
    MutexLock lock(mutex_);
    events_.push_back(event);
  }
  uint64_t one = 1;
  CUZK_CHECK(write(posted_, &one, sizeof one) == sizeof one);
}

std::optional<Event> Inbox::Take() {
  signalfd_siginfo signal{};
  if (read(signals_, &signal, sizeof signal) == sizeof signal) {
    return signal.ssi_signo == SIGHUP ? Event::kReloadSignal : Event::kStopSignal;
  }
  uint64_t one = 0;
  if (read(posted_, &one, sizeof one) != sizeof one) return std::nullopt;
  MutexLock lock(mutex_);
  Event event = events_.front();
  events_.pop_front();
  return event;
}

Event Inbox::Next() {
  while (true) {
    std::array<pollfd, 2> waiting{{{signals_, POLLIN, 0}, {posted_, POLLIN, 0}}};
    poll(waiting.data(), waiting.size(), -1);
    if (std::optional<Event> event = Take()) return *event;
  }
}

std::optional<Event> Inbox::NextWithin(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    std::array<pollfd, 2> waiting{{{signals_, POLLIN, 0}, {posted_, POLLIN, 0}}};
    poll(waiting.data(), waiting.size(), static_cast<int>(left.count()));
    if (std::optional<Event> event = Take()) return event;
  }
}

}  // namespace cuzk::daemon
