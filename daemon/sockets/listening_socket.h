#pragma once
// The sockets that the daemon listens on, opened by itself: an address that cannot be had is named, and so is the
// process that has it.

#include <optional>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "daemon/sockets/address.h"
#include "daemon/sockets/descriptor.h"

namespace cuzk::daemon {

/// What stands behind one address. Not thread-safe.
struct ListeningSocket {
  Address address;                  ///< as opened; port 0 is replaced by the one that the system gave
  std::vector<Descriptor> sockets;  ///< listening, non-blocking; a host name may stand for several
  std::optional<BoundSocket> file;  ///< of a Unix socket with a path
};

/// Opens the address; errors begin with `setting`. A socket file gets `mode` before a client can connect to it, and
/// replaces a socket at its path that no process serves. Errors: Aborted, another process has the address or the
/// machine does not have it (yet); PermissionDenied; FailedPrecondition, a file or a folder is in the way or the host
/// name is unknown.
StatusOr<ListeningSocket> Listen(const Address& address, unsigned mode, std::string_view setting);

}  // namespace cuzk::daemon
