#include "daemon/common/exit_code.h"

#include <utility>

#include "absl/strings/match.h"

namespace cuzk::daemon {
namespace {

// Payloads of a status, without content.
constexpr char kUsageMark[] = "cuzkctl/usage";
constexpr char kParametersMark[] = "cuzkctl/parameters";
constexpr char kDaemonMark[] = "cuzkctl/daemon";

constexpr int Code(auto exit) { return static_cast<int>(exit); }

constexpr ExitRow kDaemonExits[] = {
    {Code(DaemonExit::kOk), "SIGTERM or SIGINT stopped the daemon, or the requested text was printed"},
    {Code(DaemonExit::kUsage), "The command line is wrong"},
    {Code(DaemonExit::kUnavailable), "There is no device, or the processor is too old"},
    {Code(DaemonExit::kInternal), "An internal error, or the last device was lost"},
    {Code(DaemonExit::kTemporary),
     "Too little memory or address space, or too few threads; another process uses the job store or an address; the "
     "directory of the job store was replaced; or the job store hung while the daemon stopped"},
    {Code(DaemonExit::kPermission), "A permission is missing"},
    {Code(DaemonExit::kConfig), "Wrong settings, addresses, or parameters to preload"},
};

constexpr ExitRow kControlExits[] = {
    {Code(ControlExit::kOk), "The command succeeded, or the proof is valid"},
    {Code(ControlExit::kFailed),
     "The proof is not valid, the job failed, or doctor found a fault that keeps the daemon from proving"},
    {Code(ControlExit::kUsage),
     "The command line is wrong, or a named file is missing, unreadable, or would be overwritten"},
    {Code(ControlExit::kUnreachable),
     "The daemon cannot be reached, ended before it answered, or is not accepting requests"},
    {Code(ControlExit::kTimeout), "The time limit of the command passed first"},
    {Code(ControlExit::kCancelled), "The job was cancelled"},
    {Code(ControlExit::kRefused), "The input was refused, or the job failed because of it"},
    {Code(ControlExit::kNoParameters), "Parameters are missing"},
    {Code(ControlExit::kWarning), "Only from doctor: nothing failed, but something should be fixed"},
    {Code(ControlExit::kInternal),
     "An internal error, or an output cannot be written, for example because a disk is full"},
};

Status Marked(Status status, const char* mark) {
  status.SetPayload(mark, {});  // nothing happens to OK
  return status;
}

bool Has(const Status& status, const char* mark) { return status.GetPayload(mark).has_value(); }

// Of a file or of work in this process.
ControlExit OwnExitOf(const Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ControlExit::kOk;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
      return ControlExit::kUsage;
    case absl::StatusCode::kInvalidArgument:
      return Has(status, kUsageMark) ? ControlExit::kUsage : ControlExit::kRefused;
    case absl::StatusCode::kFailedPrecondition:
      return Has(status, kParametersMark) ? ControlExit::kNoParameters : ControlExit::kRefused;
    default:
      return ControlExit::kInternal;
  }
}

}  // namespace

std::span<const ExitRow> DaemonExits() { return kDaemonExits; }
std::span<const ExitRow> ControlExits() { return kControlExits; }

DaemonExit DaemonExitOf(const Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return DaemonExit::kOk;
    case absl::StatusCode::kUnavailable:
      return DaemonExit::kUnavailable;
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kAborted:
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

Status UsageMistake(Status status) { return Marked(std::move(status), kUsageMark); }
Status ParametersMissing(Status status) { return Marked(std::move(status), kParametersMark); }
Status SaidByDaemon(Status status) { return Marked(std::move(status), kDaemonMark); }

Status Reworded(const Status& status, std::string_view text) {
  Status reworded(status.code(), absl::string_view(text.data(), text.size()));
  status.ForEachPayload([&](absl::string_view mark, const absl::Cord& content) { reworded.SetPayload(mark, content); });
  return reworded;
}

ControlExit FailedExit(std::string_view failure) {
  if (failure == engine::JobFailureName(engine::JobFailure::kInput)) return ControlExit::kRefused;
  if (failure == engine::JobFailureName(engine::JobFailure::kParameters)) return ControlExit::kNoParameters;
  return ControlExit::kFailed;
}

ControlExit ControlExitOf(const Status& status) {
  if (!Has(status, kDaemonMark)) return OwnExitOf(status);
  // What a server cannot take at all is no matter of its load. The text alone says so.
  const bool too_large = absl::StrContains(status.message(), "message larger than max") ||
                         absl::StrContains(status.message(), "can never fit the memory budget");
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kAborted:
      return ControlExit::kUnreachable;
    case absl::StatusCode::kDeadlineExceeded:
      return ControlExit::kTimeout;
    case absl::StatusCode::kCancelled:
      return ControlExit::kCancelled;
    case absl::StatusCode::kResourceExhausted:
      return too_large ? ControlExit::kRefused : ControlExit::kUnreachable;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnimplemented:
      return ControlExit::kRefused;
    case absl::StatusCode::kFailedPrecondition:
      return ControlExit::kNoParameters;
    default:
      return ControlExit::kInternal;
  }
}

}  // namespace cuzk::daemon
