#pragma once
// What to do where a daemon's socket is closed to the user.

#include <string>

#include "core/base/status.h"

namespace cuzk::daemon {

/// The status, with advice where no daemon was reached because the socket's permissions keep this user out.
Status WithSocketAdvice(const Status& status, const std::string& address);

}  // namespace cuzk::daemon
