#pragma once
// The thread that takes connections and carries bytes between clients and gRPC's server, through a FrameGate each.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "daemon/ingress/ingress_memory.h"
#include "daemon/ingress/tls_identity.h"
#include "daemon/sockets/listening_socket.h"

namespace cuzk::daemon {

/// Any thread. The end of the relay ends every connection.
class Relay {
 public:
  /// What a connection takes of the account.
  static constexpr uint64_t kConnectionBytes = uint64_t{64} << 10;

  struct Parts {
    std::vector<ListeningSocket> listeners;
    const TlsIdentity* identity = nullptr;  ///< for TCP; null: plaintext. Must outlive the relay
    IngressMemory* memory = nullptr;        ///< must outlive the relay
    uint64_t max_message = 0;               ///< a message of more bytes is refused
    /// Takes the ownership of one end of a socket pair, on which gRPC then serves a client. Called on the relay's
    /// thread.
    std::function<void(int fd)> serve;
    /// A connection was not taken, or was ended, for a reason that people should know. Called on the relay's thread.
    std::function<void(std::string_view reason, const std::string& text)> ended;
  };

  /// RESOURCE_EXHAUSTED: the system gives no thread or no descriptor.
  static StatusOr<std::unique_ptr<Relay>> Start(Parts parts);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  /// Takes no connection any more and removes the socket files; returns once that is so. Open connections go on.
  void StopListening();

 private:
  class Loop;
  explicit Relay(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace cuzk::daemon
