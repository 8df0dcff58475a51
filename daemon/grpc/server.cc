#include "daemon/grpc/server.h"

#include <grpc/grpc.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/server_builder_option.h>
#include <grpcpp/impl/server_builder_plugin.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_posix.h>

#include <utility>

#include "core/filecoin/types/registry.h"
#include "cuzk/v1/proving.grpc.pb.h"
#include "cuzkd/v1/operator.grpc.pb.h"
#include "daemon/grpc/library_errors.h"
#include "daemon/ingress/frame_gate.h"
#include "daemon/ingress/loopback_call.h"

namespace cuzk::daemon {
namespace {

// A program that links the reflection library has it in every server; this takes it out again.
class WithoutReflection final : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    std::erase_if(*plugins, [](const auto& plugin) { return plugin->name() == "proto_server_reflection"; });
  }
};

/// An answer that takes longer is none.
constexpr std::chrono::seconds kListenerPatience{20};

constexpr uint64_t kQuotaSlack = uint64_t{256} << 20;

/// What reflection lists: every service of this server.
std::vector<std::string> ServiceNames() {
  return {std::string(v1::ProvingEngine::service_full_name()), std::string(cuzkd::v1::Operator::service_full_name()),
          "grpc.health.v1.Health", std::string(grpc::reflection::v1::ServerReflection::service_full_name()),
          "grpc.reflection.v1alpha.ServerReflection"};
}

void SetLimits(const ServerOptions& options, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.max_message_bytes));
  builder.SetMaxSendMessageSize(static_cast<int>(options.max_message_bytes));
  // A few bytes can inflate to any size, outside the quota. A compressed message is refused (UNIMPLEMENTED) unread.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  // The gate of each connection lets no larger block of headers pass.
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, static_cast<int>(FrameGate::kHeaderList));
  // A second line behind the account of IngressMemory. Where gRPC's quota ends it resets calls at random, so it leaves
  // the account room for what gRPC adds to each message.
  grpc::ResourceQuota quota("cuzkd");
  quota.Resize(options.ingress_bytes + kQuotaSlack);
  quota.SetMaxThreads(static_cast<int>(options.max_threads));
  builder.SetResourceQuota(quota);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, static_cast<int>(options.max_calls_per_connection));
  // A client that waits for a proof may ask every now and then whether we are there, also between its calls.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(options.keepalive.count()));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(options.keepalive_timeout.count()));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             static_cast<int>(options.least_ping_interval.count()));
}

}  // namespace

StatusOr<std::unique_ptr<TlsIdentity>> MakeTlsIdentity(const ServerOptions& options) {
  if (!options.tls.enabled()) return nullptr;
  CUZK_ASSIGN_OR_RETURN(TlsMaterial material, ReadTlsMaterial(options.tls));
  return TlsIdentity::Make(options.tls, std::move(material));
}

StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options, const Parts& parts) {
  CUZK_RETURN_IF_ERROR(CheckServerOptions(options));
  std::unique_ptr<Server> server(new Server());
  std::vector<ListeningSocket> listeners;
  for (const Address& address : options.listen) {
    CUZK_ASSIGN_OR_RETURN(ListeningSocket listener, Listen(address, options.socket_mode, "listen"));
    server->addresses_.push_back(listener.address);
    listeners.push_back(std::move(listener));
  }
  if (parts.identity != nullptr) {
    server->encryption_ = options.tls.mutual() ? "TLS, clients' certificates required" : "TLS";
  }
  // The library stays up until the process ends: its own end waits for threads, also for those that it could not make.
  grpc_init();
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  if (!options.reflection) builder.SetOption(std::make_unique<WithoutReflection>());
  SetLimits(options, builder);
  for (grpc::Service* service : parts.services) builder.RegisterService(service);
  if (options.reflection) {
    server->reflection_ = std::make_unique<ReflectionService>(ServiceNames());
    builder.RegisterService(server->reflection_.get());
  }
  if (parts.others != nullptr) builder.RegisterCallbackGenericService(parts.others);
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(std::make_unique<LibraryErrors>());
  interceptors.push_back(parts.calls->Interceptors());
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
  server->server_ = builder.BuildAndStart();
  if (!server->server_) return absl::InternalError("the gRPC server did not start");
  server->SetServing(false, {});
  CUZK_ASSIGN_OR_RETURN(
      server->relay_,
      Relay::Start({.listeners = std::move(listeners),
                    .identity = parts.identity,
                    .memory = parts.memory,
                    .max_message = options.max_message_bytes,
                    .serve = [s = server->server_.get()](int fd) { grpc::AddInsecureChannelFromFd(s, fd); },
                    .ended = parts.connection_ended}));
  return server;
}

std::vector<std::string> Server::Listeners() const {
  std::vector<std::string> lines;
  for (const Address& address : addresses_) {
    const bool encrypted = !encryption_.empty() && address.kind == Address::Kind::kTcp;
    lines.push_back(encrypted ? StrCat(address.Target(), " (", encryption_, ")") : address.Target());
  }
  return lines;
}

Server::~Server() { Shutdown(std::chrono::milliseconds(0)); }

void Server::SetServing(bool serving, const std::set<std::string, std::less<>>& kinds) {
  grpc::HealthCheckServiceInterface* health = server_->GetHealthCheckService();
  health->SetServingStatus("", serving);
  health->SetServingStatus("cuzk.v1.ProvingEngine", serving);
  for (const filecoin::KindRow& kind : filecoin::Kinds()) {
    health->SetServingStatus(std::string(kind.name), serving && kinds.contains(kind.name));
  }
}

Status Server::TryListeners() const {
  for (const Address& address : addresses_) {
    const bool encrypted = !encryption_.empty() && address.kind == Address::Kind::kTcp;
    CUZK_RETURN_IF_ERROR(CallOwnListener(address, encrypted, kListenerPatience));
  }
  return absl::OkStatus();
}

void Server::Shutdown(std::chrono::milliseconds grace) {
  if (!server_) return;
  server_->GetHealthCheckService()->Shutdown();
  if (relay_) relay_->StopListening();
  server_->Shutdown(std::chrono::system_clock::now() + grace);
  server_->Wait();
  relay_.reset();
  server_.reset();
}

}  // namespace cuzk::daemon
