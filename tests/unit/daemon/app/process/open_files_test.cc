#include "daemon/app/process/open_files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>

namespace cuzk::daemon {
namespace {

// In a process of its own: a hard limit cannot be raised again.
TEST(OpenFilesDeathTest, TheSoftLimitBecomesTheHardOneAndFewAreTold) {
  auto raise = [] {
    const rlimit few{256, 512};
    setrlimit(RLIMIT_NOFILE, &few);
    Logger log({});
    RaiseOpenFiles(log);
    rlimit now{};
    getrlimit(RLIMIT_NOFILE, &now);
    std::exit(now.rlim_cur == 512 ? 0 : 1);
  };
  EXPECT_EXIT(raise(), ::testing::ExitedWithCode(0), "at most 512 files .*soft limit 256.* LimitNOFILE");
}

}  // namespace
}  // namespace cuzk::daemon
