#include "daemon/grpc/call.h"

#include <grpc/support/time.h>

#include "daemon/common/convert.h"

namespace cuzk::daemon {

std::optional<engine::TimePoint> DeadlineAfter(gpr_timespec left, engine::TimePoint now) {
  // gRPC's own seconds: as nanoseconds since 1970, what clients may send does not fit in 64 bits.
  constexpr int64_t kNever = int64_t{3600} * 24 * 366;
  if (left.tv_sec >= kNever) return std::nullopt;
  if (left.tv_sec <= -kNever) return now;
  return now + std::chrono::seconds(left.tv_sec) + std::chrono::nanoseconds(left.tv_nsec);
}

std::optional<engine::TimePoint> DeadlineOf(const grpc::ServerContext& context) {
  const gpr_timespec deadline = context.raw_deadline();
  return DeadlineAfter(gpr_time_sub(deadline, gpr_now(deadline.clock_type)), std::chrono::steady_clock::now());
}

grpc::Status FinishCall(Metrics& metrics, std::string_view method, const Status& status) {
  grpc::Status answer = ToGrpc(status);
  std::string code = absl::StatusCodeToString(static_cast<absl::StatusCode>(answer.error_code()));
  metrics.Increment(MetricId::kGrpcRequests, {method, code});
  return answer;
}

}  // namespace cuzk::daemon
