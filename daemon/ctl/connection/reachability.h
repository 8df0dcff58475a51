#pragma once
// Why a daemon cannot be reached: gRPC says only that it cannot.

#include <filesystem>
#include <optional>
#include <string>

#include "daemon/sockets/address.h"
#include "daemon/sockets/tls.h"

namespace cuzk::daemon {

struct Unreachable {
  std::string said;             ///< what was found, such as "nothing listens at 127.0.0.1:9820"
  std::string advice;           ///< what to do
  bool other_protocol = false;  ///< something answers there, in another protocol
};

struct ReachOptions {
  const ClientTlsMaterial* tls = nullptr;  ///< null: plaintext
  std::string server_name;                 ///< that the certificate must have; empty: the host of the address
  std::filesystem::path root = "/";        ///< where the unit of systemd is looked for
};

/// Makes connections of its own, for a few seconds at most: looks for the socket, resolves the name, connects, and
/// reads what is spoken there. Nothing if no fault was found, or if only the permissions of a socket are in the way
/// (daemon/ctl/connection/socket_advice.h explains those).
std::optional<Unreachable> FindUnreachable(const Address& address, const ReachOptions& options);

}  // namespace cuzk::daemon
