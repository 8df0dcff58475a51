#include "core/memory/pinned_pool.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/check.h"

namespace cuzk::memory {
namespace {

constexpr size_t kSmallUnit = size_t{64} << 10, kLargeUnit = size_t{2} << 20;

}  // namespace

Lease::Lease(Lease&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      allocator_(std::exchange(other.allocator_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    Release();
    pool_ = std::exchange(other.pool_, nullptr);
    allocator_ = std::exchange(other.allocator_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
  }
  return *this;
}

Lease::~Lease() { Release(); }

StatusOr<Lease> Lease::Standalone(HostAllocator& allocator, size_t bytes) {
  CUZK_ASSIGN_OR_RETURN(std::byte * data, allocator.Allocate(bytes));
  return Lease(nullptr, &allocator, data, bytes, bytes);
}

void Lease::Release() {
  std::byte* data = std::exchange(data_, nullptr);
  if (data == nullptr) return;
  if (pool_ != nullptr) {
    pool_->TakeBack(data);
  } else {
    allocator_->Free(data, capacity_);
  }
  size_ = capacity_ = 0;
}

PinnedPool::PinnedPool(HostAllocator& allocator, Budget& budget, uint64_t max_bytes)
    : allocator_(allocator), budget_(budget), max_bytes_(max_bytes) {
  reclaimer_ = budget_.AddReclaimer([this](uint64_t bytes) { Trim(bytes); });
}

PinnedPool::~PinnedPool() {
  reclaimer_ = Registration();
  Trim(std::numeric_limits<uint64_t>::max());
  CUZK_CHECK(counters_.total_bytes == 0);
}

uint64_t PinnedPool::SlabBytes(size_t bytes) {
  size_t unit = bytes >= 8 * kLargeUnit ? kLargeUnit : kSmallUnit;
  return (bytes + unit - 1) / unit * unit;
}

bool PinnedPool::TakeIdle(size_t bytes, size_t largest, Slab* slab) {
  MutexLock lock(mutex_);
  auto best = idle_.end();
  for (auto it = idle_.begin(); it != idle_.end(); ++it) {
    if (it->capacity < bytes || it->capacity > largest) continue;
    if (best == idle_.end() || it->capacity < best->capacity) best = it;
  }
  if (best == idle_.end()) return false;
  *slab = std::move(*best);
  idle_.erase(best);
  counters_.used_bytes += slab->capacity;
  counters_.used_slabs++;
  return true;
}

Lease PinnedPool::Lend(Slab slab, size_t bytes) {
  Lease lease(this, nullptr, slab.data, bytes, slab.capacity);
  MutexLock lock(mutex_);
  counters_.leases_total++;
  lent_.push_back(std::move(slab));
  return lease;
}

Status PinnedPool::MayGrow(size_t capacity) {
  MutexLock lock(mutex_);
  if (max_bytes_ != 0 && counters_.total_bytes + capacity > max_bytes_) {
    return absl::UnavailableError(
        StrCat("the pinned pool holds ", counters_.total_bytes, " of at most ", max_bytes_, " bytes"));
  }
  // Without this a waiting caller would ask a failing allocator again and again.
  if (allocator_failed_ && counters_.used_slabs > 0) {
    return absl::UnavailableError("the allocator failed: waiting for a buffer to come back");
  }
  return absl::OkStatus();
}

StatusOr<PinnedPool::Slab> PinnedPool::Grow(size_t capacity) {
  if (max_bytes_ != 0 && capacity > max_bytes_) {
    return absl::ResourceExhaustedError(
        StrCat("a buffer of ", capacity, " bytes is larger than the pinned pool's cap of ", max_bytes_, " bytes"));
  }
  if (Status first = MayGrow(capacity); !first.ok()) {
    Trim(capacity);
    CUZK_RETURN_IF_ERROR(MayGrow(capacity));
  }
  CUZK_ASSIGN_OR_RETURN(Reservation reservation, budget_.TryReserve(MemoryClass::kPinned, capacity));
  {
    MutexLock lock(mutex_);
    if (max_bytes_ != 0 && counters_.total_bytes + capacity > max_bytes_) {
      return absl::UnavailableError("another caller took the last of the pinned pool's cap");
    }
    counters_.total_bytes += capacity;
    counters_.used_bytes += capacity;
    counters_.slabs++;
    counters_.used_slabs++;
  }
  auto data = allocator_.Allocate(capacity);
  MutexLock lock(mutex_);
  allocator_failed_ = !data.ok();
  if (data.ok()) {
    counters_.allocations_total++;
    return Slab{*data, capacity, std::move(reservation)};
  }
  counters_.total_bytes -= capacity;
  counters_.used_bytes -= capacity;
  counters_.slabs--;
  counters_.used_slabs--;
  counters_.allocation_failures_total++;
  if (counters_.used_slabs > 0) return absl::UnavailableError(data.status().message());
  return data.status();
}

StatusOr<Lease> PinnedPool::TryAcquire(size_t bytes) {
  CUZK_CHECK(bytes > 0);
  size_t capacity = SlabBytes(bytes);
  Slab slab;
  // A slab that wastes at most a quarter serves; a larger one only when there is no room for another.
  if (TakeIdle(bytes, capacity + capacity / 4, &slab)) return Lend(std::move(slab), bytes);
  auto grown = Grow(capacity);
  if (grown.ok()) return Lend(*std::move(grown), bytes);
  if (TakeIdle(bytes, std::numeric_limits<size_t>::max(), &slab)) return Lend(std::move(slab), bytes);
  return grown.status();
}

StatusOr<Lease> PinnedPool::Acquire(size_t bytes, std::stop_token stop) {
  for (;;) {
    if (stop.stop_requested()) return absl::CancelledError("stopped while waiting for a witness buffer");
    uint64_t seen = budget_.ChangeCount();
    auto lease = TryAcquire(bytes);
    if (lease.ok() || !absl::IsUnavailable(lease.status())) return lease;
    budget_.WaitForChange(seen, stop);
  }
}

void PinnedPool::TakeBack(std::byte* data) noexcept {
  {
    MutexLock lock(mutex_);
    auto it = std::find_if(lent_.begin(), lent_.end(), [data](const Slab& slab) { return slab.data == data; });
    CUZK_CHECK(it != lent_.end());
    counters_.used_bytes -= it->capacity;
    counters_.used_slabs--;
    allocator_failed_ = false;
    idle_.push_back(std::move(*it));
    lent_.erase(it);
  }
  budget_.NotifyChange();
}

void PinnedPool::FreeSlab(Slab slab) {
  allocator_.Free(slab.data, slab.capacity);
  MutexLock lock(mutex_);
  counters_.total_bytes -= slab.capacity;
  counters_.slabs--;
}

uint64_t PinnedPool::Trim(uint64_t bytes) {
  uint64_t freed = 0;
  while (freed < bytes) {
    Slab slab;
    {
      MutexLock lock(mutex_);
      auto largest = std::max_element(idle_.begin(), idle_.end(),
                                      [](const Slab& x, const Slab& y) { return x.capacity < y.capacity; });
      if (largest == idle_.end()) break;
      slab = std::move(*largest);
      idle_.erase(largest);
    }
    freed += slab.capacity;
    FreeSlab(std::move(slab));
  }
  return freed;
}

PinnedPoolSnapshot PinnedPool::Snapshot() const {
  MutexLock lock(mutex_);
  return counters_;
}

}  // namespace cuzk::memory
