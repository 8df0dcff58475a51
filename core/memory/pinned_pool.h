#pragma once
// A pool of witness buffers. A buffer ("slab") is allocated and page-locked once and then leased again and again,
// because page-locking a gigabyte costs as much as proving with it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/memory/budget.h"
#include "core/memory/host_allocator.h"

namespace cuzk::memory {

class PinnedPool;

/// The right to use one slab until destruction. Move-only. The bytes are not cleared between uses. An empty lease has
/// no bytes. The pool or allocator of the lease must outlive it.
class Lease {
 public:
  Lease() = default;
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  ~Lease();

  /// A lease without a pool and outside any budget, for tools and tests that write one witness.
  static StatusOr<Lease> Standalone(HostAllocator& allocator, size_t bytes);

  /// The bytes that were requested, aligned to at least 64.
  std::span<std::byte> bytes() { return {data_, size_}; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  bool empty() const { return data_ == nullptr; }
  /// Gives the bytes back now.
  void Release();

 private:
  friend class PinnedPool;
  Lease(PinnedPool* pool, HostAllocator* allocator, std::byte* data, size_t size, size_t capacity)
      : pool_(pool), allocator_(allocator), data_(data), size_(size), capacity_(capacity) {}
  PinnedPool* pool_ = nullptr;
  HostAllocator* allocator_ = nullptr;  // of a standalone lease
  std::byte* data_ = nullptr;
  size_t size_ = 0;      // asked for
  size_t capacity_ = 0;  // of the slab
};

struct PinnedPoolSnapshot {
  uint64_t total_bytes = 0;  ///< of all slabs; equals what the pool holds in the budget
  uint64_t used_bytes = 0;   ///< of the slabs that are leased
  uint32_t slabs = 0, used_slabs = 0;
  uint64_t leases_total = 0;       ///< granted so far
  uint64_t allocations_total = 0;  ///< slabs allocated so far
  uint64_t allocation_failures_total = 0;
};

/// Thread-safe. Slabs are counted in the budget as kPinned from allocation to free, leased or idle. Idle slabs are
/// freed when the budget needs memory.
class PinnedPool {
 public:
  /// `max_bytes` caps the slabs of this pool besides the budget; 0: the budget alone. All must outlive the pool.
  PinnedPool(HostAllocator& allocator, Budget& budget, uint64_t max_bytes = 0);
  ~PinnedPool();  // every lease must have ended
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

  /// A lease of `bytes` > 0, without waiting. RESOURCE_EXHAUSTED if the cap or the budget could never hold it,
  /// UNAVAILABLE if not now. If the allocator fails: UNAVAILABLE while leases exist, its own error otherwise.
  StatusOr<Lease> TryAcquire(size_t bytes);

  /// As TryAcquire, but waits while the lease is UNAVAILABLE. CANCELLED if `stop` is requested.
  StatusOr<Lease> Acquire(size_t bytes, std::stop_token stop);

  /// Frees idle slabs, largest first, until at least `bytes` are freed or none is idle. Returns the bytes freed.
  uint64_t Trim(uint64_t bytes);

  /// The bytes that a lease of `bytes` takes from the budget if no idle slab is large enough.
  static uint64_t SlabBytes(size_t bytes);

  PinnedPoolSnapshot Snapshot() const;

 private:
  friend class Lease;
  struct Slab {
    std::byte* data;
    size_t capacity;
    Reservation reservation;
  };
  void TakeBack(std::byte* data) noexcept;
  bool TakeIdle(size_t bytes, size_t largest, Slab* slab);
  Lease Lend(Slab slab, size_t bytes);
  Status MayGrow(size_t capacity);
  StatusOr<Slab> Grow(size_t capacity);
  void FreeSlab(Slab slab);

  HostAllocator& allocator_;
  Budget& budget_;
  const uint64_t max_bytes_;
  mutable Mutex mutex_;  // never held while the allocator or the budget is called
  std::vector<Slab> idle_ ABSL_GUARDED_BY(mutex_);
  std::vector<Slab> lent_ ABSL_GUARDED_BY(mutex_);
  bool allocator_failed_ ABSL_GUARDED_BY(mutex_) = false;  // at the last attempt, and no lease came back since
  PinnedPoolSnapshot counters_ ABSL_GUARDED_BY(mutex_);    // total_bytes includes a slab being allocated
  Registration reclaimer_;
};

}  // namespace cuzk::memory
