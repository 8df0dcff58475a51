#include "daemon/common/exit_code.h"

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

ControlExit OfDaemon(const Status& status) { return ControlExitOf(SaidByDaemon(status)); }

TEST(ExitCodeTest, AScriptSeesWhatTheDaemonSaid) {
  EXPECT_EQ(OfDaemon(absl::OkStatus()), ControlExit::kOk);
  EXPECT_EQ(OfDaemon(absl::UnavailableError("")), ControlExit::kUnreachable);
  EXPECT_EQ(OfDaemon(absl::AbortedError("database is locked")), ControlExit::kUnreachable);
  EXPECT_EQ(OfDaemon(absl::InvalidArgumentError("")), ControlExit::kRefused);
  EXPECT_EQ(OfDaemon(absl::ResourceExhaustedError("the queue is full: 9 jobs are unfinished")),
            ControlExit::kUnreachable);
  EXPECT_EQ(OfDaemon(absl::ResourceExhaustedError("Received message larger than max (9 vs. 8)")),
            ControlExit::kRefused);
  EXPECT_EQ(OfDaemon(absl::UnimplementedError("")), ControlExit::kRefused);
  // What the text begins with does not matter: it may quote an id.
  EXPECT_EQ(OfDaemon(absl::NotFoundError("--timeout: there is no such job")), ControlExit::kRefused);
  EXPECT_EQ(OfDaemon(absl::FailedPreconditionError("")), ControlExit::kNoParameters);
  EXPECT_EQ(OfDaemon(absl::DeadlineExceededError("")), ControlExit::kTimeout);
  EXPECT_EQ(OfDaemon(absl::CancelledError("")), ControlExit::kCancelled);
  EXPECT_EQ(OfDaemon(absl::InternalError("")), ControlExit::kInternal);
}

TEST(ExitCodeTest, TheOwnFilesAndDiskAreNoneOfTheDaemon) {
  EXPECT_EQ(ControlExitOf(absl::NotFoundError("open proof")), ControlExit::kUsage);
  EXPECT_EQ(ControlExitOf(absl::PermissionDeniedError("open proof")), ControlExit::kUsage);
  EXPECT_EQ(ControlExitOf(absl::InvalidArgumentError("request.json")), ControlExit::kRefused);
  EXPECT_EQ(ControlExitOf(absl::FailedPreconditionError("changed while it was being read")), ControlExit::kRefused);
  EXPECT_EQ(ControlExitOf(ParametersMissing(absl::FailedPreconditionError("no key"))), ControlExit::kNoParameters);
  EXPECT_EQ(ControlExitOf(absl::ResourceExhaustedError("write proof: No space left on device")),
            ControlExit::kInternal);
  EXPECT_EQ(ControlExitOf(absl::UnavailableError("no card")), ControlExit::kInternal);
  EXPECT_EQ(ControlExitOf(absl::OkStatus()), ControlExit::kOk);
}

TEST(ExitCodeTest, AMistakeOnTheCommandLineIsWhatWasMarkedAsOne) {
  const Status bad = UsageMistake(absl::InvalidArgumentError("--timeout: \"x\" is not a duration"));
  EXPECT_EQ(bad.message(), "--timeout: \"x\" is not a duration");
  EXPECT_EQ(ControlExitOf(bad), ControlExit::kUsage);
  EXPECT_EQ(ControlExitOf(UsageMistake(absl::NotFoundError("--out"))), ControlExit::kUsage);
  EXPECT_EQ(ControlExitOf(UsageMistake(absl::PermissionDeniedError("--out"))), ControlExit::kUsage);
  // A disk or a system that fails is nobody's mistake.
  EXPECT_EQ(ControlExitOf(UsageMistake(absl::InternalError("--out"))), ControlExit::kInternal);
  EXPECT_EQ(ControlExitOf(UsageMistake(absl::OkStatus())), ControlExit::kOk);
}

TEST(ExitCodeTest, WhatCanNeverFitIsARefusalAndNoMatterOfLoad) {
  EXPECT_EQ(OfDaemon(absl::ResourceExhaustedError("snap-2k can never fit the memory budget: it needs 9 bytes")),
            ControlExit::kRefused);
  EXPECT_EQ(OfDaemon(absl::ResourceExhaustedError("the queue is full")), ControlExit::kUnreachable);
}

TEST(ExitCodeTest, AFailedJobEndsWithWhatItFailedFor) {
  EXPECT_EQ(FailedExit("input"), ControlExit::kRefused);
  EXPECT_EQ(FailedExit("parameters"), ControlExit::kNoParameters);
  EXPECT_EQ(FailedExit(""), ControlExit::kFailed);
}

TEST(ExitCodeTest, OtherWordsKeepWhoSaidIt) {
  const Status said = Reworded(SaidByDaemon(absl::ResourceExhaustedError("full")), "full; come again");
  EXPECT_EQ(said.message(), "full; come again");
  EXPECT_EQ(ControlExitOf(said), ControlExit::kUnreachable);
}

}  // namespace
}  // namespace cuzk::daemon
