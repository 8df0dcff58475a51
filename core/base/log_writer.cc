#include "core/base/log_writer.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <utility>

#include "core/base/mutex.h"
#include "core/base/thread.h"

namespace cuzk {
namespace {

/// Writes everything; blocks while the descriptor is full and is not read. False on an error.
bool WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd room{.fd = descriptor, .events = POLLOUT, .revents = 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

struct LogWriter::State {
  explicit State(Options o) : options(std::move(o)) {}

  const Options options;
  mutable Mutex mutex;
  Condition wake, progress;
  std::deque<std::string> lines ABSL_GUARDED_BY(mutex);
  size_t bytes ABSL_GUARDED_BY(mutex) = 0;       // of the lines
  uint64_t accepted ABSL_GUARDED_BY(mutex) = 0;  // lines
  uint64_t done ABSL_GUARDED_BY(mutex) = 0;      // lines that were written or dropped
  uint64_t dropped ABSL_GUARDED_BY(mutex) = 0;   // lines
  uint64_t untold ABSL_GUARDED_BY(mutex) = 0;    // of those, since their number was last written
  bool stuck ABSL_GUARDED_BY(mutex) = false;     // writers do not wait for their lines
  bool closing ABSL_GUARDED_BY(mutex) = false;
  bool closed ABSL_GUARDED_BY(mutex) = false;

  void Drop(uint64_t count) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    dropped += count;
    untold += count;
  }
};

LogWriter::LogWriter(Options options) : state_(std::make_shared<State>(std::move(options))) {
  StatusOr<std::jthread> thread = StartThread("the log", [state = state_] { Run(*state); });
  if (thread.ok()) thread_ = *std::move(thread);
}

LogWriter::~LogWriter() {
  if (!thread_.joinable()) return;
  {
    State& state = *state_;
    MutexLock lock(state.mutex);
    state.closing = true;
    state.wake.NotifyOne();
    const TimePoint end = std::chrono::steady_clock::now() + 2 * state.options.patience;
    while (!state.closed && state.progress.WaitUntil(state.mutex, end)) {
    }
    if (!state.closed) {
      state.lines.clear();
      thread_.detach();
      return;
    }
  }
  thread_.join();
}

void LogWriter::Run(State& state) {
  MutexLock lock(state.mutex);
  for (;;) {
    while (!state.closing && state.lines.empty()) state.wake.Wait(state.mutex);
    if (state.lines.empty()) break;
    // Before the oldest line that is left, where the others were.
    const uint64_t told = std::exchange(state.untold, 0);
    std::string line = std::move(state.lines.front());
    state.lines.pop_front();
    state.bytes -= line.size();
    lock.Unlock();
    const int descriptor = state.options.descriptor;
    const bool heard = told == 0 || WriteAll(descriptor, state.options.dropped_line(told));
    const bool written = WriteAll(descriptor, line);
    lock.Lock();
    if (!heard) state.untold += told;
    if (!written) state.Drop(1);
    ++state.done;
    if (state.lines.empty()) state.stuck = false;
    state.progress.NotifyAll();
  }
  state.closed = true;
  state.progress.NotifyAll();
}

void LogWriter::Write(std::string line) {
  if (!thread_.joinable()) return WriteWithin(state_->options.descriptor, line, state_->options.patience);
  State& state = *state_;
  MutexLock lock(state.mutex);
  state.bytes += line.size();
  state.lines.push_back(std::move(line));
  const uint64_t number = ++state.accepted;
  while (state.bytes > state.options.most_bytes && state.lines.size() > 1) {
    state.bytes -= state.lines.front().size();
    state.lines.pop_front();
    state.Drop(1);
    ++state.done;
  }
  state.wake.NotifyOne();
  if (state.stuck) return;
  const TimePoint end = std::chrono::steady_clock::now() + state.options.patience;
  while (state.done < number && state.progress.WaitUntil(state.mutex, end)) {
  }
  if (state.done < number) state.stuck = true;
}

uint64_t LogWriter::dropped() const {
  const State& state = *state_;
  MutexLock lock(state.mutex);
  return state.dropped;
}

void WriteWithin(int descriptor, std::string_view text, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!text.empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd room{.fd = descriptor, .events = POLLOUT, .revents = 0};
    const int ready = poll(&room, 1, static_cast<int>(std::max<int64_t>(0, left.count())));
    if (ready == 0) return;
    // A pipe with room takes so much without waiting.
    const ssize_t written = ready < 0 ? -1 : write(descriptor, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR && errno != EAGAIN) {
      return;
    }
  }
}

}  // namespace cuzk
