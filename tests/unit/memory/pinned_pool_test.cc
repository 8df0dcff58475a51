#include "core/memory/pinned_pool.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "tests/unit/memory/faulty_allocator.h"

namespace cuzk::memory {
namespace {

using testing_support::FaultyAllocator;
constexpr size_t kMiB = size_t{1} << 20;

uint64_t Pinned(const Budget& budget) {
  return budget.Snapshot().used_by_class[static_cast<size_t>(MemoryClass::kPinned)];
}

TEST(AlignedAllocator, LargeBlocksAreAlignedToHugePagesAndUsable) {
  AlignedAllocator allocator;
  for (size_t bytes : {size_t{1}, size_t{4096}, size_t{4097}, 2 * kMiB, 5 * kMiB + 1}) {
    auto data = allocator.Allocate(bytes);
    ASSERT_TRUE(data.ok()) << data.status();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(*data) % (bytes >= 2 * kMiB ? 2 * kMiB : 64), 0u);
    std::memset(*data, 7, bytes);
    allocator.Free(*data, bytes);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(allocator.Allocate(size_t{1} << 60).status()));
}

TEST(PinnedPool, SlabsAreAllocatedOnceAndLentAgain) {
  FaultyAllocator allocator;
  Budget budget(64 * kMiB);
  {
    PinnedPool pool(allocator, budget);
    std::byte* first;
    {
      Lease lease = *pool.TryAcquire(20 * kMiB - 5);
      EXPECT_EQ(lease.bytes().size(), 20 * kMiB - 5);
      first = lease.bytes().data();
      EXPECT_EQ(Pinned(budget), 20 * kMiB);
      EXPECT_EQ(pool.Snapshot().used_slabs, 1u);
    }
    for (int i = 0; i < 5; ++i) EXPECT_EQ(pool.TryAcquire(18 * kMiB)->bytes().data(), first);
    EXPECT_EQ(allocator.calls(), 1u);
    EXPECT_EQ(pool.Snapshot().leases_total, 6u);
    EXPECT_EQ(pool.Snapshot().used_slabs, 0u);
    EXPECT_EQ(Pinned(budget), 20 * kMiB);  // idle, but still held
    Lease small = *pool.TryAcquire(kMiB);  // would waste more than a quarter
    EXPECT_NE(small.bytes().data(), first);
  }
  EXPECT_EQ(Pinned(budget), 0u);
  EXPECT_EQ(allocator.bytes_out(), 0u);
}

TEST(PinnedPool, IdleSlabsYieldToOthersUnderPressure) {
  FaultyAllocator allocator;
  Budget budget(64 * kMiB);
  PinnedPool pool(allocator, budget);
  Lease lent = *pool.TryAcquire(20 * kMiB);
  { Lease idle = *pool.TryAcquire(30 * kMiB); }
  EXPECT_EQ(budget.Snapshot().used_bytes, 50 * kMiB);
  auto parameters = budget.TryReserve(MemoryClass::kParameters, 40 * kMiB);
  ASSERT_TRUE(parameters.ok()) << parameters.status();
  EXPECT_EQ(Pinned(budget), 20 * kMiB);  // what is lent stays
  EXPECT_TRUE(absl::IsUnavailable(pool.TryAcquire(10 * kMiB).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(pool.TryAcquire(65 * kMiB).status()));
}

TEST(PinnedPool, FreesALargeIdleSlabForASmallOneAndUsesItIfThatFails) {
  FaultyAllocator allocator;
  Budget budget(40 * kMiB);
  PinnedPool pool(allocator, budget, 40 * kMiB);
  { Lease large = *pool.TryAcquire(40 * kMiB); }
  {
    Lease small = *pool.TryAcquire(4 * kMiB);  // the large one made room
    EXPECT_EQ(Pinned(budget), 4 * kMiB);
    EXPECT_EQ(allocator.calls(), 2u);
  }
  { Lease large = *pool.TryAcquire(20 * kMiB); }
  EXPECT_EQ(pool.Snapshot().slabs, 2u);
  allocator.Fail(3, 1);
  Lease medium = *pool.TryAcquire(8 * kMiB);  // no room was missing, but the allocator failed
  EXPECT_EQ(Pinned(budget), 24 * kMiB);
  EXPECT_EQ(pool.Snapshot().allocation_failures_total, 1u);
}

TEST(PinnedPool, CapHoldsBesideTheBudget) {
  FaultyAllocator allocator;
  Budget budget(1024 * kMiB);
  PinnedPool pool(allocator, budget, 32 * kMiB);
  EXPECT_TRUE(absl::IsResourceExhausted(pool.TryAcquire(33 * kMiB).status()));
  Lease a = *pool.TryAcquire(16 * kMiB);
  { Lease b = *pool.TryAcquire(16 * kMiB); }
  Lease c = *pool.TryAcquire(kMiB);  // frees the idle slab, which is too large for it
  EXPECT_TRUE(absl::IsUnavailable(pool.TryAcquire(16 * kMiB).status()));
  EXPECT_LE(pool.Snapshot().total_bytes, 32 * kMiB);
}

TEST(PinnedPool, AcquireWaitsForALeaseAndForTheStopToken) {
  FaultyAllocator allocator;
  Budget budget(20 * kMiB);
  PinnedPool pool(allocator, budget);
  Lease held = *pool.TryAcquire(20 * kMiB);
  std::stop_source stop;
  std::jthread cancelled([&] { EXPECT_TRUE(absl::IsCancelled(pool.Acquire(kMiB, stop.get_token()).status())); });
  stop.request_stop();
  cancelled.join();
  std::jthread waiter([&] { EXPECT_TRUE(pool.Acquire(20 * kMiB, {}).ok()); });
  held.Release();
}

TEST(PinnedPool, FailingAllocatorWaitsWhileLeasesAreOutAndFailsOtherwise) {
  FaultyAllocator allocator;
  Budget budget(1024 * kMiB);
  PinnedPool pool(allocator, budget);
  allocator.Fail(0, 1000);
  EXPECT_TRUE(absl::IsResourceExhausted(pool.TryAcquire(kMiB).status()));
  EXPECT_EQ(pool.Snapshot().allocation_failures_total, 1u);
  EXPECT_EQ(Pinned(budget), 0u);
  allocator.FailNever();
  Lease held = *pool.TryAcquire(kMiB);
  allocator.Fail(0, 1000);
  uint64_t changes = budget.ChangeCount();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(absl::IsUnavailable(pool.TryAcquire(kMiB).status()));
  EXPECT_EQ(allocator.calls(), 3u);              // asked once, not ten times
  EXPECT_LE(budget.ChangeCount(), changes + 1);  // so that whoever waits does not wake itself
  std::jthread waiter([&] { EXPECT_TRUE(pool.Acquire(kMiB, {}).ok()); });
  held.Release();
}

TEST(Lease, StandaloneFreesItself) {
  FaultyAllocator allocator;
  {
    Lease lease = *Lease::Standalone(allocator, 1000);
    Lease moved = std::move(lease);
    EXPECT_TRUE(lease.empty());
    EXPECT_EQ(moved.bytes().size(), 1000u);
  }
  EXPECT_EQ(allocator.bytes_out(), 0u);
  EXPECT_EQ(allocator.wrong_frees(), 0u);
}

RC_GTEST_PROP(PinnedPoolProperty, BudgetCountsExactlyWhatIsAllocated,
              (const std::vector<std::pair<uint8_t, uint16_t>>& steps)) {
  FaultyAllocator allocator;
  Budget budget(48 * kMiB);
  {
    PinnedPool pool(allocator, budget);
    std::vector<Lease> leases;
    for (auto [what, amount] : steps) {
      if (what % 8 == 7) allocator.Fail(allocator.calls(), amount % 3);
      if (what % 2 == 0 && !leases.empty()) {
        leases.erase(leases.begin() + amount % static_cast<ptrdiff_t>(leases.size()));
      } else {
        size_t bytes = 1 + size_t{amount} * 512;
        auto lease = pool.TryAcquire(bytes);
        if (lease.ok()) {
          RC_ASSERT(lease->bytes().size() == bytes);
          std::memset(lease->bytes().data(), what, 1);
          std::memset(lease->bytes().data() + bytes - 1, what, 1);
          leases.push_back(*std::move(lease));
        }
      }
      if (what % 16 == 9) pool.Trim(amount * 1024);
      RC_ASSERT(Pinned(budget) == allocator.bytes_out());
      RC_ASSERT(pool.Snapshot().total_bytes == allocator.bytes_out());
      RC_ASSERT(pool.Snapshot().used_slabs == leases.size());
    }
  }
  RC_ASSERT(allocator.bytes_out() == 0u);
  RC_ASSERT(allocator.wrong_frees() == 0u);
  RC_ASSERT(budget.Snapshot().used_bytes == 0u);
}

TEST(PinnedPool, ManyThreadsShareFewSlabs) {
  FaultyAllocator allocator;
  Budget budget(3 * kMiB);
  PinnedPool pool(allocator, budget);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 300; ++i) {
          Lease lease = *pool.Acquire(kMiB / 2 + static_cast<size_t>(i % 3) * kMiB / 4, {});
          std::memset(lease.bytes().data(), t, 64);
          std::this_thread::yield();
          for (int k = 0; k < 64; ++k) wrong += lease.bytes()[k] != std::byte(t);
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(budget.Snapshot().peak_bytes, 3 * kMiB);
}

}  // namespace
}  // namespace cuzk::memory
