#include "daemon/grpc/waiting_calls.h"

#include <algorithm>

namespace cuzk::daemon {

StatusOr<WaitingCalls::Seat> WaitingCalls::Enter(Share share) {
  const uint64_t kept = std::max<uint64_t>(4, threads_ / 8);
  const uint64_t most = threads_ - (share == Share::kUrgent ? kept / 2 : kept);
  const bool viewer = share == Share::kViewers;
  if (viewer && viewers_.fetch_add(1) >= threads_ / 4) {
    viewers_.fetch_sub(1);
    return absl::ResourceExhaustedError(StrCat("too many viewers: Watch and reflection may use ", threads_ / 4, " of ",
                                               threads_, " threads (grpc.threads)"));
  }
  if (waiting_.fetch_add(1) >= most) {
    waiting_.fetch_sub(1);
    if (viewer) viewers_.fetch_sub(1);
    return absl::ResourceExhaustedError(
        StrCat("too many calls wait for proofs: they may use ", most, " of ", threads_, " threads (grpc.threads)"));
  }
  return Seat(*this, viewer);
}

}  // namespace cuzk::daemon
