#pragma once
// What the gRPC server takes from the settings: addresses, limits, TLS files.

#include <chrono>
#include <cstdint>
#include <vector>

#include "core/base/status.h"
#include "daemon/sockets/address.h"
#include "daemon/sockets/tls.h"

namespace cuzk::daemon {

struct ServerOptions {
  std::vector<Address> listen;
  unsigned socket_mode = 0660;
  uint64_t max_message_bytes = uint64_t{512} << 20;
  uint64_t max_calls_per_connection = 256;
  uint64_t max_threads = 512;
  uint64_t ingress_bytes = uint64_t{4} << 30;
  bool allow_plaintext = false;
  bool reflection = true;
  std::chrono::milliseconds keepalive{60'000};          ///< silence before a peer is asked whether it lives
  std::chrono::milliseconds keepalive_timeout{20'000};  ///< how long it may take to answer
  std::chrono::milliseconds least_ping_interval{10'000};
  TlsFiles tls;
};

/// What is wrong with the options, without opening anything.
Status CheckServerOptions(const ServerOptions& options);

}  // namespace cuzk::daemon
