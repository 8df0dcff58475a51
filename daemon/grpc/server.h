#pragma once
// The gRPC server: listeners, limits, health and reflection.

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "daemon/common/address.h"
#include "daemon/grpc/call_watch.h"
#include "daemon/grpc/refusing_service.h"
#include "daemon/grpc/tls_identity.h"
#include "daemon/settings/server_options.h"

namespace cuzk::daemon {

/// The identity that the options name; null without TLS. Errors of ReadTlsMaterial.
StatusOr<std::unique_ptr<TlsIdentity>> MakeTlsIdentity(const ServerOptions& options);

class Server {
 public:
  /// Listens and serves; TCP ports speak TLS if there is an identity. All arguments must outlive it. Unix
  /// sockets get their mode when they are created (the process's umask is changed meanwhile, so no other thread should
  /// be creating files). Calls that no service knows are UNIMPLEMENTED, or go to `others`. FailedPrecondition or
  /// PermissionDenied: an address cannot be listened on.
  static StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                                 const std::vector<grpc::Service*>& services, TlsIdentity* identity,
                                                 CallWatch& calls, RefusingService* others = nullptr);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// What the health service says: "", cuzk.v1.ProvingEngine, and each kind.
  void SetServing(bool serving);
  /// The addresses as opened; port 0 is replaced by the one that was given.
  const std::vector<Address>& addresses() const { return addresses_; }
  /// "unix:/run/cuzkd/cuzkd.sock", "0.0.0.0:9820 (TLS, clients' certificates required)".
  std::vector<std::string> Listeners() const;
  /// Takes no call any more, removes the sockets that are its own still, lets open calls end until `grace` is over,
  /// cancels the rest.
  void Shutdown(std::chrono::milliseconds grace);

 private:
  Server() = default;
  std::vector<Address> addresses_;
  std::string encryption_;  // of TCP ports, for people
  std::vector<BoundSocket> sockets_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace cuzk::daemon
