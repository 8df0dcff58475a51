#pragma once
// A terminal that a program draws on, and gives back as it was.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/base/status.h"

namespace cuzk::daemon {

/// Whether stdout and stdin are a terminal that can be drawn on.
bool IsScreen();

struct ScreenSize {
  size_t columns = 80, rows = 24;
};

/// What Wait saw: a key (of the keys for scrolling, the letter that does the same: j, k, b, g, blank), or a signal that
/// ends the program, or that the size changed, or that the time is over.
struct ScreenEvent {
  enum class Kind { kTimeout, kKey, kResize, kEnd } kind = Kind::kTimeout;
  char key = 0;
};

/// Takes stdin and stdout: keys come unechoed and at once, the other screen of the terminal is shown, no cursor. The
/// destructor gives all back. SIGINT, SIGTERM, SIGHUP and SIGWINCH are blocked in the calling thread and those that it
/// makes later, and come as events.
class Screen {
 public:
  static StatusOr<std::unique_ptr<Screen>> Take();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  ScreenSize size() const;
  /// Lines from the top left; the rest is cleared.
  void Draw(const std::vector<std::string>& lines);
  ScreenEvent Wait(std::chrono::milliseconds longest);

 private:
  struct Saved;
  explicit Screen(std::unique_ptr<Saved> saved);
  std::unique_ptr<Saved> saved_;
};

}  // namespace cuzk::daemon
