#pragma once
// A call that the daemon makes at one of its own listeners, as a client would.

#include <chrono>

#include "core/base/status.h"
#include "daemon/sockets/address.h"

namespace cuzk::daemon {

/// Connects to the address and, unless it speaks TLS, calls cuzkd.v1.Operator/Probe there. OK once that is answered
/// with OK. UNAVAILABLE, with the address and the cause, if there is no connection, the answer is another one, or none
/// comes within `patience`. Blocks.
Status CallOwnListener(const Address& address, bool encrypted, std::chrono::seconds patience);

}  // namespace cuzk::daemon
