#pragma once
// Why the daemon cannot be reached by TLS: gRPC says only that it cannot.

#include <string>

#include "daemon/sockets/address.h"
#include "daemon/sockets/tls.h"

namespace cuzk::daemon {

/// Makes a connection of its own, for a few seconds at most, and says in words what is wrong with it: who is not
/// trusted, what has expired, which name does not fit, that a certificate is asked for, that no TLS is spoken there.
/// `name`: that the certificate must have; empty: the address's host. Empty if nothing is wrong with TLS.
std::string WhyNoTls(const Address& address, const ClientTlsMaterial& material, const std::string& name);

}  // namespace cuzk::daemon
