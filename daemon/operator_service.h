#pragma once
// cuzkd.v1.Operator over the engine and the settings.

#include <stop_token>

#include "core/base/metrics.h"
#include "core/engine/engine.h"
#include "cuzkd/v1/operator.grpc.pb.h"
#include "daemon/live_settings.h"
#include "daemon/waiting_calls.h"

namespace cuzk::daemon {

/// Any number of threads. All arguments must outlive it.
class OperatorService final : public cuzkd::v1::Operator::Service {
 public:
  OperatorService(engine::Engine& engine, Metrics& metrics, const LiveSettings& settings, WaitingCalls& waiting,
                  std::stop_token stop)
      : engine_(engine), metrics_(metrics), settings_(settings), waiting_(waiting), stop_(std::move(stop)) {}

  grpc::Status Watch(grpc::ServerContext*, const cuzkd::v1::WatchRequest*,
                     grpc::ServerWriter<cuzkd::v1::JobProgress>*) override;
  grpc::Status GetTimeline(grpc::ServerContext*, const cuzkd::v1::GetTimelineRequest*,
                           cuzkd::v1::GetTimelineResponse*) override;
  grpc::Status GetSettings(grpc::ServerContext*, const cuzkd::v1::GetSettingsRequest*,
                           cuzkd::v1::GetSettingsResponse*) override;

 private:
  engine::Engine& engine_;
  Metrics& metrics_;
  const LiveSettings& settings_;
  WaitingCalls& waiting_;
  const std::stop_token stop_;
};

}  // namespace cuzk::daemon
