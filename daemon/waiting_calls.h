#pragma once
// Calls that wait for a proof or for parameters hold a thread of gRPC each. Some threads are kept for calls that do
// not: status, cancel, health, submissions.

#include <atomic>
#include <cstdint>
#include <utility>

#include "core/base/status.h"

namespace cuzk::daemon {

/// Thread-safe. Must outlive its seats.
class WaitingCalls {
 public:
  /// A call's right to wait; gives it back when it goes.
  class Seat {
   public:
    explicit Seat(WaitingCalls& calls) : calls_(&calls) {}
    Seat(Seat&& other) noexcept : calls_(std::exchange(other.calls_, nullptr)) {}
    Seat& operator=(Seat&&) = delete;
    ~Seat() {
      if (calls_ != nullptr) calls_->waiting_.fetch_sub(1);
    }

   private:
    WaitingCalls* calls_;
  };

  /// `threads`: grpc.threads, at least 8.
  explicit WaitingCalls(uint64_t threads) : threads_(threads) {}

  /// RESOURCE_EXHAUSTED once so many wait that an eighth of the threads is left, and at least four. An urgent call may
  /// take half of those.
  StatusOr<Seat> Enter(bool urgent = false);

 private:
  const uint64_t threads_;
  std::atomic<uint64_t> waiting_ = 0;
};

}  // namespace cuzk::daemon
