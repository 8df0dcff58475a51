#include "daemon/grpc/operator_service.h"

#include "daemon/common/convert.h"
#include "daemon/common/job_messages.h"
#include "daemon/grpc/call.h"

namespace cuzk::daemon {
namespace {

constexpr const char* kTooManyLists = "too many clients are listing jobs; try again later";

}  // namespace

OperatorService::OperatorService(const Parts& parts, std::stop_token stop)
    : BoundedService(parts.memory),
      engine_(*parts.engine),
      metrics_(*parts.metrics),
      parts_(parts),
      stop_(std::move(stop)) {
  const std::string service = StrCat("/", cuzkd::v1::Operator::service_full_name(), "/");
  AddStream(service + "Watch", &OperatorService::Watch);
  AddUnary(service + "GetTimeline", &OperatorService::GetTimeline);
  AddUnary(service + "GetSettings", &OperatorService::GetSettings);
  AddUnary(service + "ListJobs", &OperatorService::ListJobs);
  AddUnary(service + "GetJob", &OperatorService::GetJob);
  AddUnary(service + "ListDevices", &OperatorService::ListDevices);
  AddUnary(service + "SetDevice", &OperatorService::SetDevice);
  AddUnary(service + "Probe", &OperatorService::Probe);
}

grpc::Status OperatorService::Watch(grpc::ServerContext* context, const cuzkd::v1::WatchRequest* request,
                                    grpc::ServerWriter<cuzkd::v1::JobProgress>* writer) {
  StatusOr<WaitingCalls::Seat> seat = parts_.waiting->Enter(Share::kViewers);
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

grpc::Status OperatorService::GetTimeline(grpc::ServerContext* context, const cuzkd::v1::GetTimelineRequest*,
                                          cuzkd::v1::GetTimelineResponse* response) {
  std::shared_ptr<void> place = parts_.traces->Enter();
  if (place == nullptr) {
    return FinishCall(metrics_, "GetTimeline",
                      absl::ResourceExhaustedError("too many clients are reading the trace; try again later"));
  }
  parts_.calls->WhenAnswered(*context, [place](bool) {});  // until then
  response->set_chrome_trace_json(engine_.TimelineJson());
  return FinishCall(metrics_, "GetTimeline", absl::OkStatus());
}

grpc::Status OperatorService::ListJobs(grpc::ServerContext*, const cuzkd::v1::ListJobsRequest* request,
                                       cuzkd::v1::ListJobsResponse* response) {
  const auto list = [&]() -> Status {
    const std::shared_ptr<void> place = lists_.Enter();
    if (place == nullptr) return absl::ResourceExhaustedError(kTooManyLists);
    CUZK_ASSIGN_OR_RETURN(const engine::JobQuery query, ToJobQuery(*request));
    CUZK_ASSIGN_OR_RETURN(const engine::JobList jobs, engine_.ListJobs(query));
    for (const engine::ListedJob& job : jobs.jobs) *response->add_jobs() = ToJobMessage(job, kListedErrorBytes);
    response->set_next_page_token(jobs.next);
    return absl::OkStatus();
  };
  return FinishCall(metrics_, "ListJobs", list());
}

grpc::Status OperatorService::GetJob(grpc::ServerContext*, const cuzkd::v1::GetJobRequest* request,
                                     cuzkd::v1::GetJobResponse* response) {
  const auto find = [&]() -> Status {
    const std::shared_ptr<void> place = lists_.Enter();
    if (place == nullptr) return absl::ResourceExhaustedError(kTooManyLists);
    CUZK_ASSIGN_OR_RETURN(const engine::ListedJob job, engine_.FindJob(request->job_id()));
    *response->mutable_job() = ToJobMessage(job, job.facts.error.size());
    return absl::OkStatus();
  };
  return FinishCall(metrics_, "GetJob", find());
}

grpc::Status OperatorService::ListDevices(grpc::ServerContext*, const cuzkd::v1::ListDevicesRequest*,
                                          cuzkd::v1::ListDevicesResponse* response) {
  for (const engine::DeviceStatus& device : engine_.Snapshot().devices)
    *response->add_devices() = ToDeviceState(device);
  return FinishCall(metrics_, "ListDevices", absl::OkStatus());
}

grpc::Status OperatorService::SetDevice(grpc::ServerContext*, const cuzkd::v1::SetDeviceRequest* request,
                                        cuzkd::v1::SetDeviceResponse* response) {
  StatusOr<WaitingCalls::Seat> seat = parts_.waiting->Enter();
  if (!seat.ok()) return FinishCall(metrics_, "SetDevice", seat.status());
  StatusOr<engine::DeviceStatus> device = engine_.SetDevice(request->device(), request->enabled());
  if (device.ok()) *response->mutable_device() = ToDeviceState(*device);
  return FinishCall(metrics_, "SetDevice", device.status());
}

grpc::Status OperatorService::Probe(grpc::ServerContext*, const cuzkd::v1::ProbeRequest*, cuzkd::v1::ProbeResponse*) {
  return grpc::Status::OK;  // not counted: no client asked
}

grpc::Status OperatorService::GetSettings(grpc::ServerContext*, const cuzkd::v1::GetSettingsRequest*,
                                          cuzkd::v1::GetSettingsResponse* response) {
  const Settings settings = parts_.settings->Get();
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
