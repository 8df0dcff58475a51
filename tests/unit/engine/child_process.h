#pragma once
// This program once more, as a process that a test may kill.

#include <fcntl.h>
#include <spawn.h>
#include <sys/types.h>

#include <string>

extern char** environ;

namespace cuzk::testing_support {

/// Starts the disabled tests that the filter names, without their output; -1 if that fails. The caller reaps it.
inline pid_t StartChild(const std::string& tests) {
  std::string filter = "--gtest_filter=" + tests, also = "--gtest_also_run_disabled_tests", name = "/proc/self/exe";
  char* arguments[] = {name.data(), filter.data(), also.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t child;
  int error = posix_spawn(&child, name.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? child : -1;
}

}  // namespace cuzk::testing_support
