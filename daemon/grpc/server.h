#pragma once
// The gRPC server: listeners, limits, health and reflection.

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "daemon/grpc/call_watch.h"
#include "daemon/grpc/reflection_service.h"
#include "daemon/grpc/refusing_service.h"
#include "daemon/ingress/ingress_memory.h"
#include "daemon/ingress/relay.h"
#include "daemon/ingress/tls_identity.h"
#include "daemon/settings/server_options.h"
#include "daemon/sockets/address.h"

namespace cuzk::daemon {

/// The identity that the options name; null without TLS. Errors of ReadTlsMaterial.
StatusOr<std::unique_ptr<TlsIdentity>> MakeTlsIdentity(const ServerOptions& options);

class Server {
 public:
  /// What the server works with; all must outlive it.
  struct Parts {
    std::vector<grpc::Service*> services;
    RefusingService* others = nullptr;  ///< answers calls that no service knows; null: they are UNIMPLEMENTED
    TlsIdentity* identity = nullptr;    ///< null: TCP ports are plaintext
    CallWatch* calls = nullptr;
    IngressMemory* memory = nullptr;
    /// Called on a thread of the server: a connection was refused or ended, the reason as a label and as a text.
    std::function<void(std::string_view reason, const std::string& text)> connection_ended;
  };

  /// Listens and serves; TCP ports speak TLS if there is an identity. Errors: Aborted, another process has an address;
  /// FailedPrecondition or PermissionDenied, an address cannot be listened on; ResourceExhausted, threads or
  /// descriptors are short.
  static StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options, const Parts& parts);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// What the health service says: "" and cuzk.v1.ProvingEngine serve if `serving`, a kind if it is among `kinds` too.
  void SetServing(bool serving, const std::set<std::string, std::less<>>& kinds);
  /// Connects to each listener, and makes a call where no TLS is spoken. UNAVAILABLE with what fails first. Blocks.
  Status TryListeners() const;
  /// The addresses as opened; port 0 is replaced by the one that was given.
  const std::vector<Address>& addresses() const { return addresses_; }
  /// "unix:/run/cuzkd/cuzkd.sock", "0.0.0.0:9820 (TLS, clients' certificates required)".
  std::vector<std::string> Listeners() const;
  /// Accepts no connection and no call any more, removes the socket files that are still its own, lets open calls end
  /// until `grace` is over, and cancels the rest.
  void Shutdown(std::chrono::milliseconds grace);

 private:
  Server() = default;
  std::vector<Address> addresses_;
  std::string encryption_;                         // of TCP ports, for people
  std::unique_ptr<ReflectionService> reflection_;  // null: not asked for
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Relay> relay_;  // carries what the server answers: ends first
};

}  // namespace cuzk::daemon
