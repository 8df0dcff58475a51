#include "daemon/server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <sys/stat.h>
#include <unistd.h>

#include <limits>

#include "core/filecoin/registry.h"

namespace cuzk::daemon {
namespace {

// A file mode creation mask for as long as it lives.
class ScopedUmask {
 public:
  explicit ScopedUmask(mode_t mask) : before_(umask(mask)) {}
  ~ScopedUmask() { umask(before_); }
  ScopedUmask(const ScopedUmask&) = delete;
  ScopedUmask& operator=(const ScopedUmask&) = delete;

 private:
  const mode_t before_;
};

void SetLimits(const ServerOptions& options, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.max_message_bytes));
  builder.SetMaxSendMessageSize(static_cast<int>(options.max_message_bytes));
  grpc::ResourceQuota quota("cuzkd");
  quota.Resize(options.ingress_bytes);
  quota.SetMaxThreads(static_cast<int>(options.max_threads));
  builder.SetResourceQuota(quota);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, static_cast<int>(options.max_calls_per_connection));
  // Clients may ping every ten seconds, also while they only wait; a dead peer is noticed within 80 seconds.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
  // Two daemons must not share a port without noticing.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

}  // namespace

Status CheckServerOptions(const ServerOptions& options) {
  constexpr uint64_t kInt = std::numeric_limits<int>::max();
  if (options.max_message_bytes > kInt || options.max_message_bytes == 0) {
    return absl::InvalidArgumentError("grpc.max_message: must be more than nothing and less than 2GiB");
  }
  if (options.max_calls_per_connection > kInt || options.max_calls_per_connection == 0) {
    return absl::InvalidArgumentError("grpc.max_calls: out of range");
  }
  if (options.max_threads > kInt || options.max_threads < 8) {
    return absl::InvalidArgumentError("grpc.threads: at least 8");
  }
  for (const Address& address : options.listen) {
    if (!address.IsLocal() && !options.allow_plaintext) {
      return absl::InvalidArgumentError(StrCat("listen: ", address.Target(),
                                               " can be reached by other machines without encryption; "
                                               "grpc.allow_plaintext = true allows it"));
    }
  }
  return absl::OkStatus();
}

StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                                const std::vector<grpc::Service*>& services) {
  CUZK_RETURN_IF_ERROR(CheckServerOptions(options));
  for (const Address& address : options.listen) {
    if (address.kind == Address::Kind::kUnixPath) CUZK_RETURN_IF_ERROR(CheckSocketPath(address.path));
  }
  grpc::EnableDefaultHealthCheckService(true);
  if (options.reflection) grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  SetLimits(options, builder);
  std::vector<int> ports(options.listen.size(), 0);
  for (size_t i = 0; i < options.listen.size(); ++i) {
    builder.AddListeningPort(options.listen[i].Target(), grpc::InsecureServerCredentials(), &ports[i]);
  }
  for (grpc::Service* service : services) builder.RegisterService(service);
  std::unique_ptr<Server> server(new Server());
  server->addresses_ = options.listen;
  {
    ScopedUmask mask(0777 & ~options.socket_mode);
    server->server_ = builder.BuildAndStart();
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    Address& address = server->addresses_[i];
    if (!server->server_ || ports[i] == 0) {
      return absl::FailedPreconditionError(StrCat("listen: cannot listen on ", address.Target()));
    }
    if (address.kind == Address::Kind::kTcp) address.port = static_cast<unsigned>(ports[i]);
  }
  server->SetServing(false);
  return server;
}

Server::~Server() { Shutdown(std::chrono::milliseconds(0)); }

void Server::SetServing(bool serving) {
  grpc::HealthCheckServiceInterface* health = server_->GetHealthCheckService();
  health->SetServingStatus("", serving);
  health->SetServingStatus("cuzk.v1.ProvingEngine", serving);
  for (const filecoin::KindRow& kind : filecoin::Kinds()) health->SetServingStatus(std::string(kind.name), serving);
}

void Server::Shutdown(std::chrono::milliseconds grace) {
  if (!server_) return;
  server_->GetHealthCheckService()->Shutdown();
  server_->Shutdown(std::chrono::system_clock::now() + grace);
  server_->Wait();
  server_.reset();
  for (const Address& address : addresses_) {
    if (address.kind == Address::Kind::kUnixPath) unlink(address.path.c_str());
  }
}

}  // namespace cuzk::daemon
