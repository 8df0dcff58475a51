#pragma once
// One budget for everything large: request bytes, witnesses, the pinned pool and parameters. A Reservation is taken
// before the memory is allocated, and nothing large is allocated without one.

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/status.h"

namespace cuzk::memory {

enum class MemoryClass : uint8_t { kRequests, kWitnesses, kPinned, kParameters };
inline constexpr size_t kMemoryClassCount = 4;
/// "requests", "witnesses", "pinned", "parameters": metric labels and /status keys.
std::string_view MemoryClassName(MemoryClass memory_class);

class Budget;

/// Bytes held in a Budget until destruction. Move-only; the budget must outlive it. An empty one holds nothing.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation();

  uint64_t bytes() const { return bytes_; }
  /// Gives back all but `bytes`; no effect when `bytes` is not smaller than what is held.
  void ShrinkTo(uint64_t bytes);
  /// Gives everything back now.
  void Release();

 private:
  friend class Budget;
  Reservation(Budget* budget, MemoryClass memory_class, uint64_t bytes)
      : budget_(budget), class_(memory_class), bytes_(bytes) {}
  Budget* budget_ = nullptr;
  MemoryClass class_ = MemoryClass::kRequests;
  uint64_t bytes_ = 0;
};

/// Removes a listener or a reclaimer when it is destroyed; after that the function is not called again
/// and no call is running. Must not be destroyed from inside that function.
class Registration {
 public:
  Registration() = default;
  explicit Registration(std::function<void()> end) : end_(std::move(end)) {}
  Registration(Registration&& other) noexcept : end_(std::exchange(other.end_, nullptr)) {}
  Registration& operator=(Registration&& other) noexcept;
  ~Registration();

 private:
  std::function<void()> end_;
};

struct BudgetOptions {
  uint64_t limit_bytes = 0;
  /// A seam for tests: asked before every reservation; true refuses it as if it could never fit.
  std::function<bool(MemoryClass, uint64_t bytes)> refuse;
};

struct BudgetSnapshot {
  uint64_t limit_bytes = 0;
  uint64_t used_bytes = 0;
  uint64_t peak_bytes = 0;                                       ///< highest used_bytes so far
  std::array<uint64_t, kMemoryClassCount> used_by_class{};       ///< by MemoryClass
  std::array<uint64_t, kMemoryClassCount> reservations_total{};  ///< granted so far, by MemoryClass
  std::array<uint64_t, kMemoryClassCount> refusals_total{};      ///< TryReserve calls refused, by MemoryClass
};

/// Thread-safe. Its lock is never held while a listener, a reclaimer or an allocation runs, so Snapshot() is quick.
class Budget {
 public:
  explicit Budget(BudgetOptions options);
  explicit Budget(uint64_t limit_bytes) : Budget(BudgetOptions{.limit_bytes = limit_bytes}) {}
  ~Budget();  // every Reservation must be gone
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  /// Reserves `bytes` without waiting. RESOURCE_EXHAUSTED if they would not fit even into an empty budget, UNAVAILABLE
  /// if they do not fit now, both with the figures. Before it returns UNAVAILABLE it asks the reclaimers for the
  /// missing bytes. The caller must hold no lock that a reclaimer takes. `class_limit`, if not 0, limits what the class
  /// holds afterwards (UNAVAILABLE above it), except that a class that holds nothing is always admitted.
  StatusOr<Reservation> TryReserve(MemoryClass memory_class, uint64_t bytes, uint64_t class_limit = 0);

  /// As TryReserve, but waits until the bytes fit. Waiting calls are served in any order. CANCELLED if `stop` is
  /// requested, RESOURCE_EXHAUSTED if RefuseWaiting selects this call.
  StatusOr<Reservation> Reserve(MemoryClass memory_class, uint64_t bytes, std::stop_token stop);

  /// Counts releases (and NotifyChange calls): read it, try, and if that failed wait for it to differ.
  uint64_t ChangeCount() const;
  /// Returns true when ChangeCount() differs from `seen`, false when `stop` is requested first.
  bool WaitForChange(uint64_t seen, std::stop_token stop) const;
  /// Waits, after a reservation of that class failed with ChangeCount() at `seen`, for another attempt: OK once
  /// ChangeCount() differs, CANCELLED if `stop` is requested first, RESOURCE_EXHAUSTED if RefuseWaiting selects it.
  Status WaitForRoom(MemoryClass memory_class, uint64_t seen, std::stop_token stop);
  /// The number of calls that wait in that way.
  uint64_t Waiting(MemoryClass memory_class) const;
  /// Refuses the call that began to wait last, if nothing will be released otherwise. False if no call waits.
  bool RefuseWaiting(MemoryClass memory_class);
  /// Counts a change other than a release: a lease has returned to its pool.
  void NotifyChange();

  /// `listener` is called, from any thread, after each change. It may take only locks that no thread holds while it
  /// calls the budget, and must not call the budget itself.
  Registration AddListener(std::function<void()> listener);

  /// `reclaim(bytes)` is called, from any thread, when `bytes` are missing: it frees at least that much idle memory, if
  /// it has it, by destroying reservations, and must not reserve. Reclaimers are called in the order of their addition.
  Registration AddReclaimer(std::function<void(uint64_t bytes)> reclaim);

  uint64_t limit_bytes() const { return options_.limit_bytes; }
  BudgetSnapshot Snapshot() const;

 private:
  friend class Reservation;
  struct Hook {
    uint64_t id;
    std::function<void(uint64_t)> call;
  };
  struct HookList {
    SharedMutex mutex;  // shared while hooks run
    std::vector<Hook> hooks ABSL_GUARDED_BY(mutex);
    uint64_t next_id ABSL_GUARDED_BY(mutex) = 0;
  };
  struct Waiter {
    MemoryClass memory_class;
    uint64_t seen;  // the change count at its last attempt
    bool refused = false;
  };
  /// Why a reservation does not fit: the bytes above a limit.
  struct Shortage {
    uint64_t bytes = 0;
    bool of_class = false;
  };
  bool Take(MemoryClass memory_class, uint64_t bytes, uint64_t class_limit, Shortage* shortage);
  void GiveBack(MemoryClass memory_class, uint64_t bytes);
  static Registration Add(HookList& list, std::function<void(uint64_t)> call);
  static void Call(HookList& list, uint64_t argument);

  const BudgetOptions options_;
  mutable Mutex mutex_;
  mutable Condition changed_;
  uint64_t changes_ ABSL_GUARDED_BY(mutex_) = 0;
  BudgetSnapshot counters_ ABSL_GUARDED_BY(mutex_);
  std::list<Waiter> waiters_ ABSL_GUARDED_BY(mutex_);  // in order of arrival
  HookList listeners_, reclaimers_;
};

}  // namespace cuzk::memory
