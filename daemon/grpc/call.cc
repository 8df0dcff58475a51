#include "daemon/grpc/call.h"

#include "daemon/common/convert.h"

namespace cuzk::daemon {

std::optional<engine::TimePoint> DeadlineOf(const grpc::ServerContext& context) {
  auto deadline = context.deadline();
  auto left = deadline - std::chrono::system_clock::now();
  if (deadline == std::chrono::system_clock::time_point::max() || left > std::chrono::hours(24 * 366)) return {};
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<engine::Duration>(left);
}

grpc::Status FinishCall(Metrics& metrics, std::string_view method, const Status& status) {
  grpc::Status answer = ToGrpc(status);
  std::string code = absl::StatusCodeToString(static_cast<absl::StatusCode>(answer.error_code()));
  metrics.Increment(MetricId::kGrpcRequests, {method, code});
  return answer;
}

}  // namespace cuzk::daemon
