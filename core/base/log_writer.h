#pragma once
// Lines to a descriptor whose reader may be slow, stand still or be gone: nobody who writes a line waits for long.

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

/// Thread-safe. One thread writes; lines wait for it in a queue that is bounded, and the oldest of them make room.
class LogWriter {
 public:
  struct Options {
    int descriptor = 2;
    /// The line that stands where so many were dropped; ends with a newline. Called from the writing thread.
    std::function<std::string(uint64_t)> dropped_line;
    size_t most_bytes = size_t{1} << 20;       ///< that wait; one line may always
    std::chrono::milliseconds patience{1000};  ///< of Write, and twice that of the destructor
  };

  explicit LogWriter(Options options);
  /// Waits for the lines that are left for twice `patience`; a thread that still stands in a write then is left behind.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  /// The line is written when it returns, so that it is not lost with the process; unless that takes longer than
  /// `patience`: from then on nobody waits, until everything has been written.
  void Write(std::string line);
  /// Lines that found no room or could not be written.
  uint64_t dropped() const;

 private:
  struct State;
  static void Run(State& state);
  std::shared_ptr<State> state_;  // shared with the thread, which may outlive this
  std::thread thread_;
};

/// Writes for so long at most; for last words. What does not get out is lost.
void WriteWithin(int descriptor, std::string_view text, std::chrono::milliseconds patience);

}  // namespace cuzk
