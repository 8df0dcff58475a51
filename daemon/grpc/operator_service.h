#pragma once
// cuzkd.v1.Operator over the engine and the settings.

#include <stop_token>

#include "core/base/metrics/metrics.h"
#include "core/engine/engine.h"
#include "cuzkd/v1/operator.grpc.pb.h"
#include "daemon/common/few_at_once.h"
#include "daemon/grpc/call_watch.h"
#include "daemon/grpc/internal/bounded_service.h"
#include "daemon/grpc/waiting_calls.h"
#include "daemon/settings/live_settings.h"

namespace cuzk::daemon {

/// Any number of threads.
class OperatorService final : public BoundedService {
 public:
  /// All must outlive the service.
  struct Parts {
    IngressMemory* memory = nullptr;  ///< as BoundedService takes it
    engine::Engine* engine = nullptr;
    Metrics* metrics = nullptr;
    const LiveSettings* settings = nullptr;
    WaitingCalls* waiting = nullptr;  ///< where viewers take seats
    CallWatch* calls = nullptr;
    FewAtOnce* traces = nullptr;  ///< how many traces may be read at once
  };
  OperatorService(const Parts& parts, std::stop_token stop);

  grpc::Status Watch(grpc::ServerContext*, const cuzkd::v1::WatchRequest*, grpc::ServerWriter<cuzkd::v1::JobProgress>*);
  grpc::Status GetTimeline(grpc::ServerContext*, const cuzkd::v1::GetTimelineRequest*, cuzkd::v1::GetTimelineResponse*);
  grpc::Status GetSettings(grpc::ServerContext*, const cuzkd::v1::GetSettingsRequest*, cuzkd::v1::GetSettingsResponse*);
  grpc::Status ListJobs(grpc::ServerContext*, const cuzkd::v1::ListJobsRequest*, cuzkd::v1::ListJobsResponse*);
  grpc::Status GetJob(grpc::ServerContext*, const cuzkd::v1::GetJobRequest*, cuzkd::v1::GetJobResponse*);
  grpc::Status ListDevices(grpc::ServerContext*, const cuzkd::v1::ListDevicesRequest*, cuzkd::v1::ListDevicesResponse*);
  grpc::Status SetDevice(grpc::ServerContext*, const cuzkd::v1::SetDeviceRequest*, cuzkd::v1::SetDeviceResponse*);
  grpc::Status Probe(grpc::ServerContext*, const cuzkd::v1::ProbeRequest*, cuzkd::v1::ProbeResponse*);

 private:
  engine::Engine& engine_;
  Metrics& metrics_;
  const Parts parts_;
  FewAtOnce lists_{8};  // the history is read from a disk
  const std::stop_token stop_;
};

}  // namespace cuzk::daemon
