#pragma once
// Calls that wait for something hold a thread of gRPC each: for a proof, for parameters, for a slow disk, for what a
// viewer may ask or read. Some threads are kept for calls that do not: status, metrics. Health needs no thread.

#include <atomic>
#include <cstdint>
#include <utility>

#include "core/base/status.h"

namespace cuzk::daemon {

/// What a call may take when threads become few.
enum class Share {
  kWaiting,  ///< waits for a proof or for parameters: all but an eighth of the threads, or but four
  kUrgent,   ///< must not be late, or is over soon unless the disk hangs: half of those that are kept as well
  kViewers   ///< looks on for as long as it likes: a quarter of all, so that viewers never shut out provers
};

/// Thread-safe. Must outlive its seats.
class WaitingCalls {
 public:
  /// A call's right to hold a thread; gives it back when it goes.
  class Seat {
   public:
    Seat(WaitingCalls& calls, bool viewer) : calls_(&calls), viewer_(viewer) {}
    Seat(Seat&& other) noexcept : calls_(std::exchange(other.calls_, nullptr)), viewer_(other.viewer_) {}
    Seat& operator=(Seat&&) = delete;
    ~Seat() {
      if (calls_ == nullptr) return;
      calls_->waiting_.fetch_sub(1);
      if (viewer_) calls_->viewers_.fetch_sub(1);
    }

   private:
    WaitingCalls* calls_;
    const bool viewer_;
  };

  /// `threads`: grpc.threads, at least 8.
  explicit WaitingCalls(uint64_t threads) : threads_(threads) {}

  /// RESOURCE_EXHAUSTED once the share is used up.
  StatusOr<Seat> Enter(Share share = Share::kWaiting);

 private:
  const uint64_t threads_;
  std::atomic<uint64_t> waiting_ = 0, viewers_ = 0;
};

}  // namespace cuzk::daemon
