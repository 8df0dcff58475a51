#pragma once
// What the main thread waits for: signals, and events of our own threads, in one queue.

#include <signal.h>

#include <chrono>
#include <deque>
#include <optional>
#include <string>

#include "core/base/mutex.h"

namespace cuzk::daemon {

enum class Event { kStopSignal, kReloadSignal, kLoaded, kLoadFailed, kDevicesLost, kStoreLost, kDrained };

/// Made before any other thread, so that every thread inherits the blocked signals: SIGTERM, SIGINT and SIGHUP arrive
/// here only; SIGUSR1, SIGUSR2 and SIGPIPE are ignored.
class Inbox {
 public:
  Inbox();
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// Any thread.
  void Post(Event event);
  /// Waits for the next one. The main thread alone.
  Event Next();
  /// The same, but waits for that time at most; nothing if no event came.
  std::optional<Event> NextWithin(std::chrono::milliseconds time);

 private:
  /// What is there now.
  std::optional<Event> Take();

  int signals_ = -1;  // signalfd
  int posted_ = -1;   // eventfd: how many lie in events_
  Mutex mutex_;
  std::deque<Event> events_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cuzk::daemon
