#pragma once
// What is said when Ctrl-C ends a command whose job continues.

#include <functional>
#include <string>
#include <thread>

namespace cuzk::daemon {

/// While it lives, SIGINT and SIGTERM print a text to stderr before they end the process as they would without it. It
/// blocks both signals in the calling thread and in threads that are made later, so construct it before other threads;
/// a signal that the process ignores stays ignored. The destructor restores the signals.
class InterruptNote {
 public:
  /// `text` is called on a thread of its own, at the signal. An empty text prints nothing.
  explicit InterruptNote(std::function<std::string()> text);
  ~InterruptNote();
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;

 private:
  void Wait();
  /// Ends what the constructor did to the signals.
  void Restore();
  const std::function<std::string()> text_;
  int signals_ = -1, end_ = -1;  // descriptors: signals that came, the destructor's word
  std::jthread thread_;
};

/// The text for a job that a command waits for. `cancelled`: the daemon cancels jobs that no caller waits for.
std::string JobContinues(const std::string& id, bool cancelled);

}  // namespace cuzk::daemon
