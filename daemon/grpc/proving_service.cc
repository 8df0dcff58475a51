#include "daemon/grpc/proving_service.h"

#include <utility>

#include "core/engine/schedule/policy.h"
#include "daemon/common/convert.h"
#include "daemon/grpc/call.h"

namespace cuzk::daemon {
namespace {

// The server owns the request and does not read it after the call: taking its payload saves a copy of up to 256 MiB.
v1::SubmitProofRequest&& Take(const v1::SubmitProofRequest& request) {
  return std::move(const_cast<v1::SubmitProofRequest&>(request));
}

/// A WinningPoSt is proved even where it cannot be stored: its caller should know that a restart loses it.
void TellIfNotStored(grpc::ServerContext& context, const engine::JobTicket& ticket) {
  if (!ticket.stored) context.AddInitialMetadata("cuzk-stored", "no");
}

}  // namespace

ProvingService::ProvingService(engine::Engine& engine, Metrics& metrics, const Options& options, std::stop_token stop)
    : BoundedService(options.memory),
      engine_(engine),
      metrics_(metrics),
      options_(options),
      stop_(std::move(stop)),
      preloads_(engine, stop_) {
  const std::string service = StrCat("/", v1::ProvingEngine::service_full_name(), "/");
  AddUnary(service + "SubmitProof", &ProvingService::SubmitProof);
  AddUnary(service + "AwaitProof", &ProvingService::AwaitProof);
  AddUnary(service + "Prove", &ProvingService::Prove);
  AddUnary(service + "CancelProof", &ProvingService::CancelProof);
  AddUnary(service + "GetStatus", &ProvingService::GetStatus);
  AddUnary(service + "GetMetrics", &ProvingService::GetMetrics);
  AddUnary(service + "PreloadSRS", &ProvingService::PreloadSRS);
  AddUnary(service + "EvictSRS", &ProvingService::EvictSRS);
}

grpc::Status ProvingService::Answer(std::string_view method, const Status& status) {
  return FinishCall(metrics_, method, status);
}

Status ProvingService::Refused(Status why) {
  engine_.CountRefused();
  return why;
}

StatusOr<engine::JobTicket> ProvingService::Submit(const v1::SubmitProofRequest& request,
                                                   std::optional<engine::TimePoint> deadline) {
  Status fit = options_.readiness->Check();
  if (fit.ok()) fit = CheckFieldSizes(request);
  if (!fit.ok()) return Refused(std::move(fit));
  engine::ProofRequest job = ToProofRequest(Take(request));
  job.deadline = deadline;
  return engine_.Submit(std::move(job));
}

void ProvingService::Deliver(const grpc::ServerContext& context, const engine::JobResult& result) {
  options_.calls->WhenAnswered(context, [this, key = result.key, proof = result.proof != nullptr](bool taken) {
    engine_.Delivered(key, taken);
    if (proof && !taken) metrics_.Increment(MetricId::kResultsNotTaken, {});
  });
}

grpc::Status ProvingService::SubmitProof(grpc::ServerContext* context, const v1::SubmitProofRequest* request,
                                         v1::SubmitProofResponse* response) {
  StatusOr<WaitingCalls::Seat> seat = options_.waiting->Enter(Share::kUrgent);
  if (!seat.ok()) return Answer("SubmitProof", Refused(seat.status()));
  StatusOr<engine::JobTicket> ticket = Submit(*request, std::nullopt);
  if (ticket.ok()) {
    TellIfNotStored(*context, *ticket);
    response->set_job_id(ticket->job_id);
    response->set_queue_position(ticket->queue_position);
  }
  return Answer("SubmitProof", ticket.status());
}

grpc::Status ProvingService::AwaitProof(grpc::ServerContext* context, const v1::AwaitProofRequest* request,
                                        v1::AwaitProofResponse* response) {
  StatusOr<WaitingCalls::Seat> seat = options_.waiting->Enter();
  if (!seat.ok()) return Answer("AwaitProof", seat.status());
  std::optional<engine::TimePoint> until;
  if (request->timeout_ms() != 0) {
    constexpr uint64_t kLongest = uint64_t{1000} * 3600 * 24 * 366;
    until = std::chrono::steady_clock::now() + std::chrono::milliseconds(std::min(request->timeout_ms(), kLongest));
  }
  StatusOr<engine::JobResult> result = WaitInSlices<engine::JobResult>(
      *context, until, stop_, [&](engine::TimePoint end) { return engine_.Await(request->job_id(), end, stop_); });
  if (absl::IsDeadlineExceeded(result.status())) {
    response->set_job_id(request->job_id());
    response->set_status(v1::AwaitProofResponse::TIMEOUT);
    return Answer("AwaitProof", absl::OkStatus());
  }
  if (result.ok()) {
    Deliver(*context, *result);
    *response = ToAwaitResponse(*result);
  }
  return Answer("AwaitProof", result.status());
}

grpc::Status ProvingService::Prove(grpc::ServerContext* context, const v1::ProveRequest* request,
                                   v1::ProveResponse* response) {
  if (!request->has_submit()) {
    return Answer("Prove", Refused(absl::InvalidArgumentError("the field submit is missing")));
  }
  const filecoin::KindRow* kind = filecoin::FindKind(static_cast<uint64_t>(request->submit().proof_kind()));
  const bool urgent = kind != nullptr && engine::HasReserve(kind->kind);
  StatusOr<WaitingCalls::Seat> seat = options_.waiting->Enter(urgent ? Share::kUrgent : Share::kWaiting);
  if (!seat.ok()) return Answer("Prove", Refused(seat.status()));
  StatusOr<engine::JobTicket> ticket = Submit(request->submit(), DeadlineOf(*context));
  if (!ticket.ok()) return Answer("Prove", ticket.status());
  TellIfNotStored(*context, *ticket);
  StatusOr<engine::JobResult> result = WaitInSlices<engine::JobResult>(
      *context, std::nullopt, stop_, [&](engine::TimePoint end) { return engine_.Await(ticket->key, end, stop_); });
  if (options_.cancel_abandoned && context->IsCancelled()) engine_.Abandon(*ticket);
  if (result.ok()) {
    Deliver(*context, *result);
    *response->mutable_result() = ToAwaitResponse(*result);
  }
  return Answer("Prove", result.status());
}

grpc::Status ProvingService::CancelProof(grpc::ServerContext*, const v1::CancelProofRequest* request,
                                         v1::CancelProofResponse* response) {
  StatusOr<WaitingCalls::Seat> seat = options_.waiting->Enter(Share::kUrgent);
  if (!seat.ok()) return Answer("CancelProof", seat.status());
  StatusOr<bool> was_running = engine_.Cancel(request->job_id());
  if (was_running.ok()) response->set_was_running(*was_running);
  return Answer("CancelProof", was_running.status());
}

grpc::Status ProvingService::GetStatus(grpc::ServerContext*, const v1::GetStatusRequest*,
                                       v1::GetStatusResponse* response) {
  *response = ToStatusResponse(engine_.Snapshot());
  return Answer("GetStatus", absl::OkStatus());
}

grpc::Status ProvingService::GetMetrics(grpc::ServerContext*, const v1::GetMetricsRequest*,
                                        v1::GetMetricsResponse* response) {
  response->set_prometheus_text(options_.metrics_text());
  return Answer("GetMetrics", absl::OkStatus());
}

grpc::Status ProvingService::PreloadSRS(grpc::ServerContext* context, const v1::PreloadSrsRequest* request,
                                        v1::PreloadSrsResponse* response) {
  StatusOr<WaitingCalls::Seat> seat = options_.waiting->Enter();
  if (!seat.ok()) return Answer("PreloadSRS", seat.status());
  const Preloads::Load load = preloads_.Begin(request->circuit_id());
  auto wait = [&](engine::TimePoint end) -> Preloads::Result {
    if (load.wait_until(end) == std::future_status::ready) return load.get();
    return absl::DeadlineExceededError("loading continues");
  };
  Preloads::Result result = WaitInSlices<engine::PreloadResult>(*context, std::nullopt, stop_, wait);
  if (result.ok()) {
    response->set_already_loaded(result->already_loaded);
    response->set_load_time_ms(result->load_time_ms);
  }
  return Answer("PreloadSRS", result.status());
}

grpc::Status ProvingService::EvictSRS(grpc::ServerContext*, const v1::EvictSrsRequest* request,
                                      v1::EvictSrsResponse* response) {
  StatusOr<engine::EvictResult> result = engine_.Evict(request->circuit_id());
  if (result.ok()) {
    response->set_was_loaded(result->was_loaded);
    response->set_freed_bytes(result->freed_bytes);
  }
  return Answer("EvictSRS", result.status());
}

}  // namespace cuzk::daemon
