#include "core/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace cuzk {

void CheckFailed(const char* file, int line, const char* expression) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, expression);
  std::abort();
}

}  // namespace cuzk
