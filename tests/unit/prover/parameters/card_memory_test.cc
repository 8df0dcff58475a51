// Parameters on a device with little memory of its own: one plan at a time, idle ones make room, and what is reserved
// is what is held.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <set>

#include "core/prover/parameters/parameter_store.h"
#include "tests/unit/prover/proving.h"
#include "tests/unit/prover/small_card.h"

namespace cuzk::prover {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;
using testing_support::FaultKind;
using testing_support::FaultPoint;
using testing_support::MixedCircuit;
using testing_support::Proving;
using testing_support::SmallCard;

class CardMemoryTest : public testing::Test {
 protected:
  StatusOr<std::shared_ptr<const ResidentParameters>> Get(ParameterStore& store, Device& device, Proving& proving,
                                                          const std::string& circuit) {
    return store.Get(device, {.circuit = circuit, .path = proving.path(), .shape = proving.shape()}, {}, {});
  }
  std::set<std::string> Loaded(const ParameterStore& store) {
    std::set<std::string> out;
    for (const ParameterStatus& status : store.Snapshot()) out.insert(status.circuit);
    return out;
  }
  uint64_t Reserved() const {
    return budget_.Snapshot().used_by_class[static_cast<size_t>(memory::MemoryClass::kParameters)];
  }
  uint64_t PointsOf(const Proving& proving) const {
    return cpu_->MakePlan(*proving.shape(), {}).value().parameter_host_bytes;
  }

  Proving first_{MixedCircuit({.size = 40})}, second_{MixedCircuit({.size = 40, .seed = 2})};
  std::unique_ptr<Device> cpu_ = MakeCpuDevice({.pool = &first_.pool()});
  const uint64_t points_ = PointsOf(first_);
  memory::Budget budget_{uint64_t{1} << 30};
  const ParameterStoreOptions options_{.budget = &budget_, .allow_development = true};
};

TEST_F(CardMemoryTest, TwoLoadsDoNotCountOnTheSameFreeMemory) {
  SmallCard card(*cpu_, points_ + points_ / 2, true);
  card.AwaitPlans(2);
  ParameterStore store(options_);
  auto other = std::async(std::launch::async, [&] { return Get(store, card, first_, "one").value(); });
  auto mine = Get(store, card, second_, "two").value();
  auto others = other.get();
  // Both are in use, so one is resident and the other streamed, and its host memory is reserved.
  EXPECT_EQ(mine->plan().parameter_host_bytes + others->plan().parameter_host_bytes, points_);
  EXPECT_EQ(Reserved(), points_);
}

TEST_F(CardMemoryTest, WhatTheDeviceDecidesWhileItLoadsIsReserved) {
  SmallCard card(*cpu_, points_ + points_ / 2, true);
  ParameterStore store(options_);
  card.TakeMeanwhile(points_);
  auto parameters = Get(store, card, first_, "one");
  ASSERT_TRUE(parameters.ok()) << parameters.status();
  EXPECT_EQ((*parameters)->plan().placement, Placement::kPinnedStreamed);
  EXPECT_EQ(Reserved(), points_);
}

TEST_F(CardMemoryTest, IdleOnesMakeRoomLeastRecentlyUsedFirst) {
  SmallCard card(*cpu_, 2 * points_ + points_ / 2, false);
  ParameterStore store(options_);
  ASSERT_TRUE(Get(store, card, first_, "one").ok());
  ASSERT_TRUE(Get(store, card, second_, "two").ok());
  ASSERT_TRUE(Get(store, card, first_, "one").ok());
  auto third = Get(store, card, first_, "three");
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_THAT(Loaded(store), UnorderedElementsAre("one", "three"));
  EXPECT_EQ(card.used(), 2 * points_);
}

TEST_F(CardMemoryTest, WhatIsInUseStays) {
  SmallCard card(*cpu_, points_ + points_ / 2, false);
  ParameterStore store(options_);
  auto held = Get(store, card, first_, "one").value();
  EXPECT_TRUE(absl::IsResourceExhausted(Get(store, card, second_, "two").status()));
  EXPECT_THAT(Loaded(store), ElementsAre("one"));
  held.reset();
  EXPECT_TRUE(Get(store, card, second_, "two").ok());
  EXPECT_THAT(Loaded(store), ElementsAre("two"));
}

TEST_F(CardMemoryTest, AnotherDevicesIdleOnesStay) {
  SmallCard card(*cpu_, points_, false), other(*cpu_, points_, false);
  ParameterStore store(options_);
  ASSERT_TRUE(Get(store, other, first_, "one").ok());
  ASSERT_TRUE(Get(store, card, first_, "one").ok());
  ASSERT_TRUE(Get(store, card, second_, "two").ok());
  EXPECT_THAT(Loaded(store), UnorderedElementsAre("one", "two"));
  EXPECT_EQ(other.used(), points_);
}

TEST_F(CardMemoryTest, IdleOnesGoRatherThanThatTheNextOnesAreStreamed) {
  SmallCard card(*cpu_, points_ + points_ / 2, true);
  ParameterStore store(options_);
  ASSERT_TRUE(Get(store, card, first_, "one").ok());
  EXPECT_EQ(Get(store, card, second_, "two").value()->plan().placement, Placement::kResident);
  EXPECT_THAT(Loaded(store), ElementsAre("two"));
}

TEST_F(CardMemoryTest, IdleOnesStayWhereTheirRoomWouldNotDo) {
  Proving large(MixedCircuit({.size = 200}));
  SmallCard card(*cpu_, points_ + points_ / 2, true);
  ParameterStore store(options_);
  ASSERT_TRUE(Get(store, card, first_, "one").ok());
  EXPECT_EQ(Get(store, card, large, "large").value()->plan().placement, Placement::kPinnedStreamed);
  EXPECT_THAT(Loaded(store), UnorderedElementsAre("one", "large"));
  EXPECT_EQ(Reserved(), PointsOf(large));
}

TEST_F(CardMemoryTest, ASmallCircuitStaysWhenALargeOneNeedsRoom) {
  Proving large(MixedCircuit({.size = 6000}));
  const uint64_t large_points = PointsOf(large);
  ASSERT_LT(points_, large_points / 64);
  // Room for the large one alone, or for the small one and a streamed large one.
  SmallCard card(*cpu_, large_points + points_ / 2, true);
  ParameterStore store(options_);
  ASSERT_TRUE(Get(store, card, first_, "small").ok());
  EXPECT_EQ(Get(store, card, large, "large").value()->plan().placement, Placement::kPinnedStreamed);
  EXPECT_THAT(Loaded(store), UnorderedElementsAre("small", "large"));
  // The other way round the large one goes.
  SmallCard other(*cpu_, large_points + points_ / 2, false);
  ASSERT_TRUE(Get(store, other, large, "large").ok());
  EXPECT_TRUE(Get(store, other, first_, "small").ok());
  EXPECT_EQ(other.used(), points_);
}

TEST_F(CardMemoryTest, ALoadThatRunsOutOfMemoryIsTriedAgainWithoutIdleOnes) {
  SmallCard card(*cpu_, 4 * points_, false);
  ParameterStore store(options_);
  ASSERT_TRUE(Get(store, card, first_, "one").ok());
  card.Add({.point = FaultPoint::kLoad, .kind = FaultKind::kOutOfMemory, .first = 1});
  EXPECT_TRUE(Get(store, card, second_, "two").ok());
  EXPECT_THAT(Loaded(store), ElementsAre("two"));
  // With nothing left to drop it is an error.
  card.Add({.point = FaultPoint::kLoad, .kind = FaultKind::kOutOfMemory, .first = 3, .count = 9});
  EXPECT_TRUE(absl::IsResourceExhausted(Get(store, card, first_, "one").status()));
  EXPECT_EQ(Reserved(), 0u);
  EXPECT_EQ(card.used(), 0u);
}

}  // namespace
}  // namespace cuzk::prover
