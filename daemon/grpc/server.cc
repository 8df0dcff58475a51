#include "daemon/grpc/server.h"

#include <grpc/grpc.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/server_builder_option.h>
#include <grpcpp/impl/server_builder_plugin.h>
#include <grpcpp/resource_quota.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "core/base/file.h"
#include "core/filecoin/types/registry.h"
#include "daemon/grpc/parse_errors.h"

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

// Whoever links the reflection library has it in every server; this takes it out again.
class WithoutReflection final : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    std::erase_if(*plugins, [](const auto& plugin) { return plugin->name() == "proto_server_reflection"; });
  }
};

void SetLimits(const ServerOptions& options, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.max_message_bytes));
  builder.SetMaxSendMessageSize(static_cast<int>(options.max_message_bytes));
  // A few bytes can inflate to any size, outside the quota. A compressed message is refused (UNIMPLEMENTED) unread.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  grpc::ResourceQuota quota("cuzkd");
  quota.Resize(options.ingress_bytes);
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
  // Two daemons must not share a port without noticing.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

/// Where gRPC binds a socket that is then renamed to `path`: it removes by name what it bound, also when the name is
/// another process's by then. The path itself where that leaves no room for more.
std::string BindingPath(const std::string& path) {
  std::string name = StrCat(path, ".", getpid());
  return name.size() < sizeof(sockaddr_un::sun_path) ? name : path;
}

Address BindingAddress(Address address) {
  if (address.kind == Address::Kind::kUnixPath) address.path = BindingPath(address.path);
  return address;
}

StatusOr<BoundSocket> NameSocket(const std::string& path) {
  const std::string bound = BindingPath(path);
  if (bound != path && rename(bound.c_str(), path.c_str()) != 0) {
    const int failed = errno;
    unlink(bound.c_str());
    return ErrnoStatus(failed, "listen: cannot name the socket", path);
  }
  return BoundSocket(path);
}

}  // namespace

StatusOr<std::unique_ptr<TlsIdentity>> MakeTlsIdentity(const ServerOptions& options) {
  if (!options.tls.enabled()) return nullptr;
  CUZK_ASSIGN_OR_RETURN(TlsMaterial material, ReadTlsMaterial(options.tls));
  return std::make_unique<TlsIdentity>(options.tls, std::move(material));
}

StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                                const std::vector<grpc::Service*>& services, TlsIdentity* identity,
                                                CallWatch& calls, RefusingService* others) {
  CUZK_RETURN_IF_ERROR(CheckServerOptions(options));
  for (const Address& address : options.listen) {
    if (address.kind == Address::Kind::kUnixPath) CUZK_RETURN_IF_ERROR(CheckSocketPath(address.path));
  }
  // The library stays up until the process ends: its own end waits for threads, also for those that it could not make.
  grpc_init();
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  if (!options.reflection) builder.SetOption(std::make_unique<WithoutReflection>());
  SetLimits(options, builder);
  std::vector<int> ports(options.listen.size(), 0);
  for (size_t i = 0; i < options.listen.size(); ++i) {
    const bool encrypted = identity != nullptr && options.listen[i].kind == Address::Kind::kTcp;
    builder.AddListeningPort(BindingAddress(options.listen[i]).Target(),
                             encrypted ? identity->Credentials() : grpc::InsecureServerCredentials(), &ports[i]);
  }
  for (grpc::Service* service : services) builder.RegisterService(service);
  if (others != nullptr) builder.RegisterCallbackGenericService(others);
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(std::make_unique<ParseErrors>());
  interceptors.push_back(calls.Interceptors());
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
  std::unique_ptr<Server> server(new Server());
  server->addresses_ = options.listen;
  if (identity != nullptr) server->encryption_ = options.tls.mutual() ? "TLS, clients' certificates required" : "TLS";
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
    if (address.kind != Address::Kind::kUnixPath) continue;
    CUZK_ASSIGN_OR_RETURN(BoundSocket socket, NameSocket(address.path));
    server->sockets_.push_back(std::move(socket));
  }
  server->SetServing(false);
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

void Server::SetServing(bool serving) {
  grpc::HealthCheckServiceInterface* health = server_->GetHealthCheckService();
  health->SetServingStatus("", serving);
  health->SetServingStatus("cuzk.v1.ProvingEngine", serving);
  for (const filecoin::KindRow& kind : filecoin::Kinds()) health->SetServingStatus(std::string(kind.name), serving);
}

void Server::Shutdown(std::chrono::milliseconds grace) {
  if (!server_) return;
  server_->GetHealthCheckService()->Shutdown();
  for (const BoundSocket& socket : sockets_) socket.Remove();
  server_->Shutdown(std::chrono::system_clock::now() + grace);
  server_->Wait();
  server_.reset();
}

}  // namespace cuzk::daemon
