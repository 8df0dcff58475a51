#pragma once
// Brings together the partitions of one circuit that wait for the second part of their computation, so that the
// parameters' points cross the bus once for all of them.

#include <algorithm>
#include <list>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/mutex.h"
#include "core/base/status.h"

namespace cuzk::prover {

/// One per circuit and device. A partition has a place from its start until its ticket is destroyed; there are
/// `places` of them. Member: what a sweep needs of a partition. Thread-safe. Must outlive its tickets.
///
/// A sweep takes all partitions that wait, as soon as none that is at least as urgent as the most urgent of them is
/// still on its way: an urgent partition never waits for less urgent ones.
template <class Member>
class SweepGroup {
  struct Place {
    enum class State { kOnItsWay, kWaiting, kTaken, kDone } state = State::kOnItsWay;
    unsigned urgency = 0;
    Member* member = nullptr;  // while waiting and taken
    Status result;
  };
  using Places = std::list<Place>;

 public:
  explicit SweepGroup(unsigned places) : free_(places) { CUZK_CHECK(places > 0); }

  /// A partition's place. Move-only.
  class Ticket {
   public:
    Ticket(Ticket&& other) noexcept : group_(std::exchange(other.group_, nullptr)), at_(other.at_) {}
    Ticket& operator=(Ticket&& other) noexcept {
      std::swap(group_, other.group_);
      std::swap(at_, other.at_);
      return *this;
    }
    ~Ticket() {
      if (group_ != nullptr) group_->Leave(at_);
    }

   private:
    friend class SweepGroup;
    Ticket(SweepGroup* group, typename Places::iterator at) : group_(group), at_(at) {}
    SweepGroup* group_;
    typename Places::iterator at_;
  };

  /// Blocks until there is a place; the most urgent caller gets it first. Cancelled if `stop` is asked for first.
  StatusOr<Ticket> Enter(unsigned urgency, std::stop_token stop) {
    MutexLock lock(mutex_);
    const auto mine = entering_.insert(entering_.end(), urgency);
    while (!MayEnter(urgency) && !stop.stop_requested()) changed_.WaitUntil(mutex_, std::nullopt, stop);
    const bool entered = MayEnter(urgency);
    entering_.erase(mine);
    changed_.NotifyAll();
    if (!entered) return absl::CancelledError("cancelled while waiting for a place on the device");
    --free_;
    places_.push_back({.urgency = urgency});
    return Ticket(this, std::prev(places_.end()));
  }

  /// The partition waits for its sweep. `sweep` is called by one of the waiting threads with all partitions that
  /// it takes, the most urgent first; its result is that of each of them. Cancelled if `stop` is asked for before the
  /// partition is taken. `member` is not used any more afterwards. Once for each ticket.
  template <class Sweep>
  Status Await(const Ticket& ticket, Member& member, std::stop_token stop, Sweep sweep) {
    MutexLock lock(mutex_);
    Place& place = *ticket.at_;
    place.member = &member;
    place.state = Place::State::kWaiting;
    changed_.NotifyAll();
    for (;;) {
      while (place.state != Place::State::kDone && !Due(place) && !stop.stop_requested()) {
        changed_.WaitUntil(mutex_, std::nullopt, stop);
      }
      if (place.state == Place::State::kDone) return place.result;
      if (place.state == Place::State::kTaken) {
        // If it is cancelled now, the thread that sweeps it sees that from the stop token.
        while (place.state != Place::State::kDone) changed_.Wait(mutex_);
        return place.result;
      }
      if (!Due(place)) {
        place.state = Place::State::kDone;
        changed_.NotifyAll();
        return absl::CancelledError("cancelled while waiting for other partitions");
      }
      Run(sweep);
    }
  }

  /// Partitions that hold a place.
  size_t size() const {
    MutexLock lock(mutex_);
    return places_.size();
  }
  /// Callers of Enter that wait.
  size_t entering() const {
    MutexLock lock(mutex_);
    return entering_.size();
  }

 private:
  bool MayEnter(unsigned urgency) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return free_ > 0 && std::ranges::none_of(entering_, [=](unsigned other) { return other > urgency; });
  }

  /// Whether the holder of the place is to sweep now.
  bool Due(const Place& place) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (sweeping_ || place.state != Place::State::kWaiting) return false;
    unsigned most = 0;
    const Place* first = nullptr;
    for (const Place& p : places_) {
      if (p.state != Place::State::kWaiting || (first != nullptr && p.urgency <= most)) continue;
      first = &p;
      most = p.urgency;
    }
    if (first != &place) return false;
    return std::ranges::none_of(
        places_, [&](const Place& p) { return p.state == Place::State::kOnItsWay && p.urgency >= most; });
  }

  /// Sweeps all that wait; the mutex is free while it does.
  template <class Sweep>
  void Run(Sweep& sweep) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::vector<Place*> taken;
    for (Place& p : places_) {
      if (p.state == Place::State::kWaiting) taken.push_back(&p);
    }
    std::ranges::stable_sort(taken, [](const Place* a, const Place* b) { return a->urgency > b->urgency; });
    std::vector<Member*> members;
    for (Place* p : taken) {
      p->state = Place::State::kTaken;
      members.push_back(p->member);
    }
    sweeping_ = true;
    mutex_.Unlock();
    const Status result = sweep(members);
    mutex_.Lock();
    sweeping_ = false;
    for (Place* p : taken) {
      p->state = Place::State::kDone;
      p->result = result;
    }
    changed_.NotifyAll();
  }

  void Leave(typename Places::iterator at) {
    MutexLock lock(mutex_);
    places_.erase(at);
    ++free_;
    changed_.NotifyAll();
  }

  mutable Mutex mutex_;
  Condition changed_;
  unsigned free_ ABSL_GUARDED_BY(mutex_);
  std::list<unsigned> entering_ ABSL_GUARDED_BY(mutex_);  // urgencies of those that wait for a place
  Places places_ ABSL_GUARDED_BY(mutex_);
  bool sweeping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace cuzk::prover
