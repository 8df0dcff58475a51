#include "daemon/exit_code.h"

#include <gtest/gtest.h>

namespace cuzk::daemon {
namespace {

TEST(ExitCodeTest, AnErrorAtStartTellsTheSupervisorWhetherToTryAgain) {
  EXPECT_EQ(DaemonExitOf(absl::UnavailableError("no device")), DaemonExit::kUnavailable);
  EXPECT_EQ(DaemonExitOf(absl::FailedPreconditionError("listen")), DaemonExit::kConfig);
  EXPECT_EQ(DaemonExitOf(absl::InvalidArgumentError("setting")), DaemonExit::kConfig);
  EXPECT_EQ(DaemonExitOf(absl::PermissionDeniedError("socket")), DaemonExit::kPermission);
  EXPECT_EQ(DaemonExitOf(absl::ResourceExhaustedError("memory")), DaemonExit::kTemporary);
  EXPECT_EQ(DaemonExitOf(absl::AbortedError("another process")), DaemonExit::kTemporary);
  EXPECT_EQ(DaemonExitOf(absl::InternalError("bug")), DaemonExit::kInternal);
}

TEST(ExitCodeTest, AScriptSeesWhatHappened) {
  EXPECT_EQ(ControlExitOf(absl::UnavailableError("")), ControlExit::kUnreachable);
  EXPECT_EQ(ControlExitOf(absl::AbortedError("database is locked")), ControlExit::kUnreachable);
  EXPECT_EQ(ControlExitOf(absl::InvalidArgumentError("")), ControlExit::kRefused);
  EXPECT_EQ(ControlExitOf(absl::ResourceExhaustedError("the queue is full: 9 jobs are unfinished")),
            ControlExit::kUnreachable);
  EXPECT_EQ(ControlExitOf(absl::ResourceExhaustedError("Received message larger than max (9 vs. 8)")),
            ControlExit::kRefused);
  EXPECT_EQ(ControlExitOf(absl::UnimplementedError("")), ControlExit::kRefused);
  EXPECT_EQ(ControlExitOf(absl::NotFoundError("")), ControlExit::kRefused);
  EXPECT_EQ(ControlExitOf(absl::FailedPreconditionError("")), ControlExit::kNoParameters);
  EXPECT_EQ(ControlExitOf(absl::DeadlineExceededError("")), ControlExit::kTimeout);
  EXPECT_EQ(ControlExitOf(absl::CancelledError("")), ControlExit::kCancelled);
  EXPECT_EQ(ControlExitOf(absl::InternalError("")), ControlExit::kInternal);
}

TEST(ExitCodeTest, AMistakeOnTheCommandLineIsWhatWasMarkedAsOne) {
  // What the text begins with does not matter: a daemon's may quote an id.
  EXPECT_EQ(ControlExitOf(absl::NotFoundError("--timeout: there is no such job")), ControlExit::kRefused);
  const Status bad = UsageMistake(absl::InvalidArgumentError("--timeout: \"x\" is not a duration"));
  EXPECT_EQ(bad.message(), "--timeout: \"x\" is not a duration");
  EXPECT_EQ(ControlExitOf(bad), ControlExit::kUsage);
  EXPECT_EQ(ControlExitOf(UsageMistake(absl::NotFoundError("--out"))), ControlExit::kUsage);
  EXPECT_EQ(ControlExitOf(UsageMistake(absl::PermissionDeniedError("--out"))), ControlExit::kUsage);
  // A disk or a system that fails is nobody's mistake.
  EXPECT_EQ(ControlExitOf(UsageMistake(absl::InternalError("--out"))), ControlExit::kInternal);
  EXPECT_EQ(ControlExitOf(UsageMistake(absl::OkStatus())), ControlExit::kOk);
}

}  // namespace
}  // namespace cuzk::daemon
