#pragma once
// How the programs end: sysexits where a supervisor reads them, small numbers where a script does.

#include <span>
#include <string_view>

#include "core/base/status.h"
#include "core/engine/jobs/job.h"

namespace cuzk::daemon {

/// cuzkd.
enum class DaemonExit {
  kOk = 0,
  kUsage = 2,
  kUnavailable = 69,
  kInternal = 70,
  kTemporary = 75,
  kPermission = 77,
  kConfig = 78
};
/// Of an error at start-up.
DaemonExit DaemonExitOf(const Status& status);

/// cuzkctl.
enum class ControlExit {
  kOk = 0,
  kFailed = 1,  ///< the proof is not valid, or the job failed
  kUsage = 2,
  kUnreachable = 3,  ///< no daemon, it ended first, or it does not accept work now
  kTimeout = 4,
  kCancelled = 5,
  kRefused = 6,  ///< the input, also by a job that failed for it
  kNoParameters = 7,
  kWarning = 8,   ///< doctor alone: nothing failed, something should be mended
  kInternal = 70  ///< or an output cannot be written
};
// Marks of an error that ends cuzkctl. OK stays OK. An error is annotated first and marked afterwards.
/// A mistake on the command line: what a flag says is wrong, or what it names is not there or closed.
Status UsageMistake(Status status);
/// It keeps verifying: no key, no parameters.
Status ParametersMissing(Status status);
/// The daemon answered so, or was not there to. Every error without this mark is of this process and its files.
Status SaidByDaemon(Status status);
/// The error in other words, with its marks.
Status Reworded(const Status& status, std::string_view text);
/// Of a job that failed for that, as cuzkd.v1.JobProgress names it.
ControlExit FailedExit(std::string_view failure);
/// Of an error of a subcommand.
ControlExit ControlExitOf(const Status& status);

/// What each code means, for the manual pages.
struct ExitRow {
  int code;
  std::string_view meaning;
};
std::span<const ExitRow> DaemonExits();
std::span<const ExitRow> ControlExits();

}  // namespace cuzk::daemon
