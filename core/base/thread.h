#pragma once
// Where threads are made: the system may refuse one, and the program must be able to say so.

#include <concepts>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/status.h"

namespace cuzk {

/// RESOURCE_EXHAUSTED: the system gave no thread for `what`, with `why` and the limits that are in force.
Status NoThread(std::string_view what, std::string_view why);
/// The limits that are in force for threads and address space, for people; "no limit is known" without any.
std::string ThreadLimits();

/// A thread that runs `body`, which may take a std::stop_token. `what` names its work in the error, which is that of
/// NoThread.
template <class Body>
StatusOr<std::jthread> StartThread(std::string_view what, Body&& body) {
  try {
    return std::jthread(std::forward<Body>(body));
  } catch (const std::system_error& error) {  // the library has no other way to say it
    return NoThread(what, error.code().message());
  }
}

}  // namespace cuzk
