#pragma once
// Which process has an address that is in use.

#include <string>

#include "daemon/sockets/address.h"

namespace cuzk::daemon {

/// "process 4711 (cuzkd)", as far as /proc tells: other users' processes show their sockets to root alone. Empty if
/// nothing is known.
std::string HolderOf(const Address& address);

}  // namespace cuzk::daemon
