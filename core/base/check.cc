#include "core/base/check.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "core/base/log_writer.h"

namespace cuzk {

void CheckFailed(const char* file, int line, const char* expression) {
  std::array<char, 1024> text{};
  std::snprintf(text.data(), text.size(), "%s:%d: broken invariant: %s\n", file, line, expression);
  WriteWithin(STDERR_FILENO, text.data(), std::chrono::seconds(1));  // ends even if stderr is not read
  std::abort();
}

}  // namespace cuzk
