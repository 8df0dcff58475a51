#pragma once
// The order of loads of parameters: which plans and loads on a device, which reads, and which computes a digest.

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/prover/device/device.h"

namespace cuzk::prover {

/// How urgent a load is; the more urgent one goes first.
struct LoadUrgency {
  unsigned level = 0;
  bool critical = false;  ///< stops a less urgent load that is in its way
};

/// On each device one large load at a time plans and loads, so that no two plans count on the same free memory; small
/// ones (IsSmall), for which plans leave room, have a lane of their own, where they wait for one another alone. While a
/// load has its turn, less urgent ones on all devices, which may read from the same disk, pause. Thread-safe.
class LoadTurns {
  struct Lane;

 public:
  /// The right to plan and to load. Move-only; gives it back when it goes.
  class Turn {
   public:
    Turn(Turn&& other) noexcept
        : turns_(std::exchange(other.turns_, nullptr)), lane_(other.lane_), level_(other.level_), stop_(other.stop_) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn();
    /// Requested when a critical load wants the lane: the load ends, and may ask for another turn.
    std::stop_token stop() const { return stop_.get_token(); }

   private:
    friend class LoadTurns;
    Turn(LoadTurns* turns, Lane* lane, unsigned level, std::stop_source stop)
        : turns_(turns), lane_(lane), level_(level), stop_(std::move(stop)) {}
    LoadTurns* turns_;
    Lane* lane_;
    unsigned level_;
    std::stop_source stop_;
  };

  /// A load that waits is passed at most so often by more urgent ones that came later.
  static constexpr unsigned kMostPasses = 16;

  /// Whether a circuit with so many bytes of points is small to the device.
  static bool IsSmall(const Device& device, uint64_t points_bytes);
  /// Waits for the turn. Cancelled if `stop` is requested first.
  StatusOr<Turn> Enter(const Device& device, bool small, const LoadUrgency& urgency, const std::stop_token& stop);
  /// Called by a load between two pieces: waits while a load of a higher level has its turn, or until `stop`.
  void LetPass(unsigned level, const std::stop_token& stop);
  /// Loads that wait in LetPass, and in Enter.
  size_t paused() const;
  size_t waiting() const;

 private:
  struct Waiter {
    LoadUrgency urgency;
    unsigned passes = 0;
  };
  struct Lane {
    std::list<Waiter> waiting;  // in the order of asking
    std::optional<LoadUrgency> holder;
    std::stop_source stop;  // of the holder
  };
  using Lanes = std::map<std::pair<const Device*, bool>, std::unique_ptr<Lane>>;
  static std::list<Waiter>::iterator Next(Lane& lane);
  /// Asks the holder to end its load, if a load of that urgency may. Releases the mutex for that.
  void StopHolder(Lane& lane, const LoadUrgency& urgency) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  Condition changed_;
  Lanes lanes_ ABSL_GUARDED_BY(mutex_);                        // by device and IsSmall; never removed
  std::map<unsigned, size_t> levels_ ABSL_GUARDED_BY(mutex_);  // turns that are held, by level
  size_t paused_ ABSL_GUARDED_BY(mutex_) = 0;
};

/// Computes something about a file once for all that ask for it at the same time. Thread-safe.
class OnceAtATime {
 public:
  /// What `compute` returns, of the first call with that key; a call that comes during that waits and gets the same,
  /// unless it was Cancelled: then it computes itself. Cancelled if `stop` is requested while it waits.
  template <class Compute>
  Status Do(const std::string& key, const std::stop_token& stop, const Compute& compute) {
    for (;;) {
      std::shared_ptr<Entry> entry;
      {
        MutexLock lock(mutex_);
        const auto found = running_.find(key);
        if (found == running_.end()) {
          entry = running_[key] = std::make_shared<Entry>();
        } else {
          const std::shared_ptr<Entry> other = found->second;
          other->waiting++;
          while (!other->result && !stop.stop_requested()) changed_.WaitUntil(mutex_, std::nullopt, stop);
          if (!other->result) return absl::CancelledError("cancelled while another load computes the same");
          if (!absl::IsCancelled(*other->result)) return *other->result;
          continue;
        }
      }
      Status status = compute();
      MutexLock lock(mutex_);
      entry->result = status;
      running_.erase(key);
      changed_.NotifyAll();
      return status;
    }
  }
  /// Calls that have come while the first one with that key computes.
  size_t waiting(const std::string& key) const {
    MutexLock lock(mutex_);
    const auto found = running_.find(key);
    return found == running_.end() ? 0 : found->second->waiting;
  }

 private:
  struct Entry {
    std::optional<Status> result;
    size_t waiting = 0;  // calls that have come for it
  };
  mutable Mutex mutex_;
  Condition changed_;
  std::map<std::string, std::shared_ptr<Entry>> running_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cuzk::prover
