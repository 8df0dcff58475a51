#pragma once
// Our own broken invariants end the process; anything a user, a file or a device can cause is a Status instead.

namespace cuzk {

/// Prints file, line and the expression to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* expression);

}  // namespace cuzk

#define CUZK_CHECK(expr) \
  (static_cast<bool>(expr) ? static_cast<void>(0) : ::cuzk::CheckFailed(__FILE__, __LINE__, #expr))
