#include "daemon/exit_code.h"

namespace cuzk::daemon {

DaemonExit DaemonExitOf(const Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return DaemonExit::kOk;
    case absl::StatusCode::kUnavailable:
      return DaemonExit::kUnavailable;
    case absl::StatusCode::kResourceExhausted:
      return DaemonExit::kTemporary;
    case absl::StatusCode::kPermissionDenied:
      return DaemonExit::kPermission;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kNotFound:
      return DaemonExit::kConfig;
    default:
      return DaemonExit::kInternal;
  }
}

ControlExit ControlExitOf(const Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ControlExit::kOk;
    case absl::StatusCode::kUnavailable:
      return ControlExit::kUnreachable;
    case absl::StatusCode::kDeadlineExceeded:
      return ControlExit::kTimeout;
    case absl::StatusCode::kCancelled:
      return ControlExit::kCancelled;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kResourceExhausted:
      return ControlExit::kRefused;
    case absl::StatusCode::kFailedPrecondition:
      return ControlExit::kNoParameters;
    default:
      return ControlExit::kInternal;
  }
}

}  // namespace cuzk::daemon
