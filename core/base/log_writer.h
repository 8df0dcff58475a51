#pragma once
// Writes lines to a descriptor whose reader may be slow, stopped or gone, without long delays for the callers.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace cuzk {

/// Thread-safe. One thread writes; lines wait for it in a bounded queue, and the oldest are dropped if it is full.
class LogWriter {
 public:
  struct Options {
    int descriptor = 2;
    /// The line to write in place of that many dropped lines, newline included. Called from the writing thread.
    std::function<std::string(uint64_t)> dropped_line;
    size_t most_bytes = size_t{1} << 20;       ///< that wait; one line may always
    std::chrono::milliseconds patience{1000};  ///< of Write, and twice that of the destructor
  };

  explicit LogWriter(Options options);
  /// Waits for the remaining lines for twice `patience`. A thread that is still blocked in a write then is abandoned.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  /// Returns when the line has been written, so that it is not lost if the process ends; but waits at most `patience`,
  /// and after one such timeout no call waits until the queue has been written.
  void Write(std::string line);
  /// Lines that were dropped or could not be written.
  uint64_t dropped() const;

 private:
  struct State;
  static void Run(State& state);
  std::shared_ptr<State> state_;  // shared with the thread, which may outlive this
  std::jthread thread_;           // none where the system gave none: lines are written by their callers then
};

/// Writes for at most `patience`, for messages right before an exit. The rest of the text is lost.
void WriteWithin(int descriptor, std::string_view text, std::chrono::milliseconds patience);

}  // namespace cuzk
