#include "core/memory/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <thread>

namespace cuzk::memory {
namespace {

using ::testing::HasSubstr;

TEST(Budget, RefusesWithFiguresAndTellsNeverFromNotNow) {
  Budget budget(100);
  auto first = budget.TryReserve(MemoryClass::kRequests, 60);
  ASSERT_TRUE(first.ok());
  auto now = budget.TryReserve(MemoryClass::kParameters, 41);
  EXPECT_TRUE(absl::IsUnavailable(now.status()));
  EXPECT_THAT(std::string(now.status().message()), HasSubstr("41 bytes for parameters"));
  EXPECT_THAT(std::string(now.status().message()), HasSubstr("60 of 100"));
  EXPECT_TRUE(absl::IsResourceExhausted(budget.TryReserve(MemoryClass::kPinned, 101).status()));
  EXPECT_TRUE(budget.TryReserve(MemoryClass::kWitnesses, 40).ok());
  BudgetSnapshot snapshot = budget.Snapshot();
  EXPECT_EQ(snapshot.used_bytes, 60u);
  EXPECT_EQ(snapshot.peak_bytes, 100u);
  EXPECT_EQ(snapshot.refusals_total[static_cast<size_t>(MemoryClass::kParameters)], 1u);
  EXPECT_EQ(snapshot.refusals_total[static_cast<size_t>(MemoryClass::kPinned)], 1u);
  EXPECT_EQ(snapshot.reservations_total[static_cast<size_t>(MemoryClass::kWitnesses)], 1u);
}

TEST(Budget, MovesAndShrinksWithoutLosingBytes) {
  Budget budget(100);
  Reservation a = *budget.TryReserve(MemoryClass::kPinned, 30);
  Reservation b = std::move(a);
  EXPECT_EQ(a.bytes(), 0u);
  a = *budget.TryReserve(MemoryClass::kPinned, 20);
  b = std::move(a);  // the 30 go back
  EXPECT_EQ(budget.Snapshot().used_bytes, 20u);
  b.ShrinkTo(25);
  EXPECT_EQ(b.bytes(), 20u);
  b.ShrinkTo(5);
  EXPECT_EQ(budget.Snapshot().used_by_class[static_cast<size_t>(MemoryClass::kPinned)], 5u);
  b.Release();
  b.Release();
  EXPECT_EQ(budget.Snapshot().used_bytes, 0u);
}

TEST(Budget, ReserveWaitsForARelease) {
  Budget budget(10);
  Reservation held = *budget.TryReserve(MemoryClass::kPinned, 8);
  std::atomic<bool> asked = false;
  std::jthread waiter([&](std::stop_token) {
    asked = true;
    auto got = budget.Reserve(MemoryClass::kWitnesses, 5, {});
    EXPECT_TRUE(got.ok());
  });
  while (!asked) std::this_thread::yield();
  held.Release();
  waiter.join();
  EXPECT_EQ(budget.Snapshot().used_bytes, 0u);
}

TEST(Budget, ReserveEndsWithTheStopTokenAndWithTheImpossible) {
  Budget budget(10);
  Reservation held = *budget.TryReserve(MemoryClass::kPinned, 8);
  EXPECT_TRUE(absl::IsResourceExhausted(budget.Reserve(MemoryClass::kPinned, 11, {}).status()));
  std::stop_source stop;
  std::jthread waiter(
      [&] { EXPECT_TRUE(absl::IsCancelled(budget.Reserve(MemoryClass::kPinned, 5, stop.get_token()).status())); });
  stop.request_stop();
}

TEST(Budget, AsksReclaimersBeforeItRefuses) {
  Budget budget(100);
  Reservation idle = *budget.TryReserve(MemoryClass::kPinned, 90);
  uint64_t asked = 0;
  {
    Registration reclaimer = budget.AddReclaimer([&](uint64_t bytes) {
      asked = bytes;
      idle.Release();
    });
    EXPECT_TRUE(budget.TryReserve(MemoryClass::kParameters, 70).ok());
    EXPECT_EQ(asked, 60u);
  }
  idle = *budget.TryReserve(MemoryClass::kPinned, 90);
  EXPECT_FALSE(budget.TryReserve(MemoryClass::kParameters, 70).ok());  // nobody to ask any more
}

TEST(Budget, TellsListenersOfEachChange) {
  Budget budget(100);
  int calls = 0;
  Registration listener = budget.AddListener([&] { ++calls; });
  uint64_t seen = budget.ChangeCount();
  { auto held = budget.TryReserve(MemoryClass::kPinned, 10); }
  EXPECT_EQ(calls, 1);
  EXPECT_NE(budget.ChangeCount(), seen);
  EXPECT_TRUE(budget.WaitForChange(seen, {}));
  budget.NotifyChange();
  EXPECT_EQ(calls, 2);
  listener = Registration();
  budget.NotifyChange();
  EXPECT_EQ(calls, 2);
}

TEST(Budget, SeamRefusesTheNthReservation) {
  int call = 0;
  Budget budget({.limit_bytes = 100, .refuse = [&](MemoryClass, uint64_t) { return call++ == 1; }});
  EXPECT_TRUE(budget.TryReserve(MemoryClass::kPinned, 1).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(budget.TryReserve(MemoryClass::kPinned, 1).status()));
  EXPECT_TRUE(budget.Reserve(MemoryClass::kPinned, 1, {}).ok());
  EXPECT_EQ(call, 3);
}

RC_GTEST_PROP(BudgetProperty, UsedIsTheSumOfWhatIsHeld, (const std::vector<std::pair<uint8_t, uint16_t>>& steps)) {
  constexpr uint64_t kLimit = 100'000;
  Budget budget(kLimit);
  std::vector<Reservation> held;
  uint64_t sum = 0;
  for (auto [what, amount] : steps) {
    if (what % 4 == 0 && !held.empty()) {
      size_t index = amount % held.size();
      sum -= held[index].bytes();
      held.erase(held.begin() + static_cast<ptrdiff_t>(index));
    } else if (what % 4 == 1 && !held.empty()) {
      Reservation& one = held[amount % held.size()];
      uint64_t keep = one.bytes() / 2;
      sum -= one.bytes() - keep;
      one.ShrinkTo(keep);
    } else {
      auto got = budget.TryReserve(static_cast<MemoryClass>(what / 4 % 4), amount);
      RC_ASSERT(got.ok() == (sum + amount <= kLimit));
      if (got.ok()) {
        sum += amount;
        held.push_back(*std::move(got));
      }
    }
    BudgetSnapshot snapshot = budget.Snapshot();
    uint64_t by_class = 0;
    for (uint64_t bytes : snapshot.used_by_class) by_class += bytes;
    RC_ASSERT(snapshot.used_bytes == sum);
    RC_ASSERT(by_class == sum);
    RC_ASSERT(snapshot.peak_bytes <= kLimit);
  }
}

TEST(Budget, ManyThreadsNeverExceedTheLimit) {
  Budget budget(64);
  std::atomic<uint64_t> held = 0, most = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (unsigned i = 0; i < 500; ++i) {
          uint64_t bytes = 1 + (i * 7 + t * 13) % 40;
          Reservation r = *budget.Reserve(MemoryClass::kWitnesses, bytes, {});
          uint64_t now = held.fetch_add(bytes) + bytes;
          for (uint64_t seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
          }
          held.fetch_sub(bytes);
        }
      });
    }
  }
  EXPECT_LE(most, 64u);
  EXPECT_EQ(budget.Snapshot().used_bytes, 0u);
}

}  // namespace
}  // namespace cuzk::memory
