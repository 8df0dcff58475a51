#pragma once
// The two clocks of the machine behind one interface, so that a test can move them.

#include <chrono>
#include <cstdint>

namespace cuzk {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

/// Whole milliseconds.
inline uint64_t Milliseconds(Duration duration) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}
inline double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// Thread-safe. This class reads the machine's clocks; a test derives from it.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Never goes back and knows no time of day.
  virtual TimePoint Now() const { return std::chrono::steady_clock::now(); }
  /// Milliseconds since 1970. May jump when the machine's time is set.
  virtual int64_t WallMs() const {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  }
  /// The machine's clocks.
  static const Clock& System() {
    static const Clock clock;
    return clock;
  }
};

}  // namespace cuzk
