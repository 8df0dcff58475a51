#include "daemon/waiting_calls.h"

#include <algorithm>

namespace cuzk::daemon {

StatusOr<WaitingCalls::Seat> WaitingCalls::Enter(bool urgent) {
  const uint64_t kept = std::max<uint64_t>(4, threads_ / 8);
  const uint64_t most = threads_ - (urgent ? kept / 2 : kept);
  if (waiting_.fetch_add(1) >= most) {
    waiting_.fetch_sub(1);
    return absl::ResourceExhaustedError(
        StrCat("too many calls wait for proofs: ", most, " of ", threads_, " threads (grpc.threads)"));
  }
  return Seat(*this);
}

}  // namespace cuzk::daemon
