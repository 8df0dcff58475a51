#pragma once
// cuzk.v1.ProvingEngine over the engine.

#include <functional>
#include <stop_token>
#include <string>

#include "core/base/metrics/metrics.h"
#include "core/engine/engine.h"
#include "cuzk/v1/proving.grpc.pb.h"
#include "daemon/common/readiness.h"
#include "daemon/grpc/call_watch.h"
#include "daemon/grpc/internal/bounded_service.h"
#include "daemon/grpc/preloads.h"
#include "daemon/grpc/waiting_calls.h"

namespace cuzk::daemon {

/// Any number of threads. Engine and metrics must outlive it. `stop` ends waiting calls with UNAVAILABLE.
class ProvingService final : public BoundedService {
 public:
  struct Options {
    IngressMemory* memory = nullptr;            ///< as BoundedService takes it
    bool cancel_abandoned = false;              ///< a job whose callers of Prove have all gone is cancelled
    const Readiness* readiness = nullptr;       ///< asked before each job; must outlive the service
    WaitingCalls* waiting = nullptr;            ///< where calls wait for jobs and loads; must outlive the service
    CallWatch* calls = nullptr;                 ///< tells whether a result was taken; must outlive the service
    std::function<std::string()> metrics_text;  ///< what GetMetrics answers
  };
  ProvingService(engine::Engine& engine, Metrics& metrics, const Options& options, std::stop_token stop);

  grpc::Status SubmitProof(grpc::ServerContext*, const v1::SubmitProofRequest*, v1::SubmitProofResponse*);
  grpc::Status AwaitProof(grpc::ServerContext*, const v1::AwaitProofRequest*, v1::AwaitProofResponse*);
  grpc::Status Prove(grpc::ServerContext*, const v1::ProveRequest*, v1::ProveResponse*);
  grpc::Status CancelProof(grpc::ServerContext*, const v1::CancelProofRequest*, v1::CancelProofResponse*);
  grpc::Status GetStatus(grpc::ServerContext*, const v1::GetStatusRequest*, v1::GetStatusResponse*);
  grpc::Status GetMetrics(grpc::ServerContext*, const v1::GetMetricsRequest*, v1::GetMetricsResponse*);
  grpc::Status PreloadSRS(grpc::ServerContext*, const v1::PreloadSrsRequest*, v1::PreloadSrsResponse*);
  grpc::Status EvictSRS(grpc::ServerContext*, const v1::EvictSrsRequest*, v1::EvictSrsResponse*);

 private:
  StatusOr<engine::JobTicket> Submit(const v1::SubmitProofRequest& request, std::optional<engine::TimePoint> deadline);
  /// A request for a proof that does not reach the engine, which counts it all the same.
  Status Refused(Status why);
  /// The engine hears whether the caller got the result.
  void Deliver(const grpc::ServerContext& context, const engine::JobResult& result);
  grpc::Status Answer(std::string_view method, const Status& status);

  engine::Engine& engine_;
  Metrics& metrics_;
  const Options options_;
  const std::stop_token stop_;
  Preloads preloads_;
};

}  // namespace cuzk::daemon
