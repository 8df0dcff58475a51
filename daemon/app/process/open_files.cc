#include "daemon/app/process/open_files.h"

#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "core/base/text.h"

namespace cuzk::daemon {

void RaiseOpenFiles(Logger& log) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t soft = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (soft != limit.rlim_max && setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    log.Warning(StrCat("the limit of open files cannot be raised from ", soft, " to ", limit.rlim_max),
                {{"err", std::strerror(errno)}});
  }
  if (limit.rlim_max >= kFewOpenFiles) return;
  log.Warning(StrCat("the process may have at most ", limit.rlim_max,
                     " files and connections open (hard limit; soft limit ", soft,
                     "); raise LimitNOFILE of the unit to ", kFewOpenFiles, " or more"));
}

}  // namespace cuzk::daemon
