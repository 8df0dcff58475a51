#include "core/base/log_writer.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <mutex>
#include <utility>

#include "core/base/thread.h"

namespace cuzk {
namespace {

/// Writes everything; blocks for as long as nobody reads. False on an error.
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
  std::mutex mutex;
  std::condition_variable wake, progress;
  // Guarded by the mutex.
  std::deque<std::string> lines;
  size_t bytes = 0;                 // of the lines
  uint64_t accepted = 0, done = 0;  // lines; done: written or dropped
  uint64_t dropped = 0;             // lines
  uint64_t untold = 0;              // of those, since that was last written
  bool stuck = false;               // nobody waits
  bool closing = false, closed = false;

  void Drop(uint64_t count) {
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
    std::unique_lock lock(state_->mutex);
    state_->closing = true;
    state_->wake.notify_one();
    if (!state_->progress.wait_for(lock, 2 * state_->options.patience, [this] { return state_->closed; })) {
      state_->lines.clear();
      lock.unlock();
      thread_.detach();
      return;
    }
  }
  thread_.join();
}

void LogWriter::Run(State& state) {
  std::unique_lock lock(state.mutex);
  for (;;) {
    state.wake.wait(lock, [&] { return state.closing || !state.lines.empty(); });
    if (state.lines.empty()) break;
    // Before the oldest line that is left, where the others were.
    const uint64_t told = std::exchange(state.untold, 0);
    std::string line = std::move(state.lines.front());
    state.lines.pop_front();
    state.bytes -= line.size();
    lock.unlock();
    const int descriptor = state.options.descriptor;
    const bool heard = told == 0 || WriteAll(descriptor, state.options.dropped_line(told));
    const bool written = WriteAll(descriptor, line);
    lock.lock();
    if (!heard) state.untold += told;
    if (!written) state.Drop(1);
    ++state.done;
    if (state.lines.empty()) state.stuck = false;
    state.progress.notify_all();
  }
  state.closed = true;
  state.progress.notify_all();
}

void LogWriter::Write(std::string line) {
  if (!thread_.joinable()) return WriteWithin(state_->options.descriptor, line, state_->options.patience);
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  state.bytes += line.size();
  state.lines.push_back(std::move(line));
  const uint64_t number = ++state.accepted;
  while (state.bytes > state.options.most_bytes && state.lines.size() > 1) {
    state.bytes -= state.lines.front().size();
    state.lines.pop_front();
    state.Drop(1);
    ++state.done;
  }
  state.wake.notify_one();
  if (state.stuck) return;
  if (!state.progress.wait_for(lock, state.options.patience, [&] { return state.done >= number; })) state.stuck = true;
}

uint64_t LogWriter::dropped() const {
  std::lock_guard lock(state_->mutex);
  return state_->dropped;
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
