#pragma once
// What every handler of a call needs: when to give up, and how calls are counted.

#include <grpc/support/time.h>
#include <grpcpp/server_context.h>

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>

#include "core/base/metrics/metrics.h"
#include "core/base/status.h"
#include "core/engine/jobs/job.h"

namespace cuzk::daemon {

/// The point of time after `left`; nothing if that is a year or more, which stands for no deadline. A time that has
/// passed long ago is `now`.
std::optional<engine::TimePoint> DeadlineAfter(gpr_timespec left, engine::TimePoint now);
/// The client's deadline on our clock; nothing if it set none.
std::optional<engine::TimePoint> DeadlineOf(const grpc::ServerContext& context);

/// Calls `wait(until)` in slices until it answers anything but DEADLINE_EXCEEDED or `until` is reached. CANCELLED once
/// the client has gone, UNAVAILABLE once `stop` is requested.
template <class Result>
StatusOr<Result> WaitInSlices(const grpc::ServerContext& context, std::optional<engine::TimePoint> until,
                              const std::stop_token& stop,
                              const std::function<StatusOr<Result>(engine::TimePoint)>& wait) {
  constexpr std::chrono::milliseconds kSlice{200};
  while (true) {
    engine::TimePoint end = std::chrono::steady_clock::now() + kSlice;
    bool last = until && *until <= end;
    StatusOr<Result> result = wait(last ? *until : end);
    if (absl::IsCancelled(result.status()) && stop.stop_requested()) {
      return absl::UnavailableError("the daemon is stopping");
    }
    if (result.ok() || !absl::IsDeadlineExceeded(result.status()) || last) return result;
    if (context.IsCancelled()) return absl::CancelledError("the client has disconnected");
    if (stop.stop_requested()) return absl::UnavailableError("the daemon is stopping");
  }
}

/// Counts the call by method and code and converts the status.
grpc::Status FinishCall(Metrics& metrics, std::string_view method, const Status& status);

}  // namespace cuzk::daemon
