#include "daemon/operator_service.h"

#include "daemon/call.h"
#include "daemon/convert.h"

namespace cuzk::daemon {

grpc::Status OperatorService::Watch(grpc::ServerContext* context, const cuzkd::v1::WatchRequest* request,
                                    grpc::ServerWriter<cuzkd::v1::JobProgress>* writer) {
  StatusOr<WaitingCalls::Seat> seat = waiting_.Enter();
  if (!seat.ok()) return FinishCall(metrics_, "Watch", seat.status());
  StatusOr<std::shared_ptr<engine::Watcher>> watcher = engine_.Watch(request->job_id());
  if (!watcher.ok()) return FinishCall(metrics_, "Watch", watcher.status());
  constexpr std::chrono::milliseconds kSlice{200};
  bool ended = false;
  while (!context->IsCancelled() && !stop_.stop_requested()) {
    std::optional<engine::JobProgress> progress = (*watcher)->Next(std::chrono::steady_clock::now() + kSlice, stop_);
    if (progress && !writer->Write(ToProgressMessage(*progress))) {
      return FinishCall(metrics_, "Watch", absl::OkStatus());  // the client has gone
    }
    if (progress) ended = engine::IsFinal(progress->state);
    if (!progress && (*watcher)->over()) break;
  }
  // The stream of one job ends with its end, that of all with the client.
  if (context->IsCancelled() || (ended && !request->job_id().empty())) {
    return FinishCall(metrics_, "Watch", absl::OkStatus());
  }
  return FinishCall(metrics_, "Watch", absl::UnavailableError("the daemon is stopping"));
}

grpc::Status OperatorService::GetTimeline(grpc::ServerContext*, const cuzkd::v1::GetTimelineRequest*,
                                          cuzkd::v1::GetTimelineResponse* response) {
  response->set_chrome_trace_json(engine_.TimelineJson());
  return FinishCall(metrics_, "GetTimeline", absl::OkStatus());
}

grpc::Status OperatorService::GetSettings(grpc::ServerContext*, const cuzkd::v1::GetSettingsRequest*,
                                          cuzkd::v1::GetSettingsResponse* response) {
  const Settings settings = settings_.Get();
  for (const SettingRow& row : SettingTable()) {
    cuzkd::v1::Setting* setting = response->add_settings();
    setting->set_name(std::string(row.name));
    setting->set_value(settings.FileText(row));
    setting->set_origin(settings.Origin(row.name));
    setting->set_description(std::string(row.description));
    setting->set_reloadable(row.reloadable);
  }
  return FinishCall(metrics_, "GetSettings", absl::OkStatus());
}

}  // namespace cuzk::daemon
