#include "core/base/random.h"

#include <sys/random.h>

#include <cerrno>

#include "core/base/check.h"

namespace cuzk {

void FillRandom(std::span<uint8_t> out) {
  while (!out.empty()) {
    ssize_t n = getrandom(out.data(), out.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    CUZK_CHECK(n > 0);
    out = out.subspan(static_cast<size_t>(n));
  }
}

}  // namespace cuzk
