// Plans for every circuit of production size on every card that providers own, computed without a card.
#include "gpu/prover/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/unit/gpu/production_circuits.h"

namespace cuzk::gpu::testing {
namespace {

using groth16::Query;
using prover::DeviceClaims;
using ::testing::HasSubstr;

constexpr uint64_t kGigabyte = 1'000'000'000;
constexpr prover::CardLimits kH200{.multiprocessors = 132,
                                   .multiprocessor_threads = 2048,
                                   .shared_multiprocessor_bytes = 228 << 10,
                                   .shared_block_bytes = 227 << 10,
                                   .shared_reserve_bytes = 1 << 10};
constexpr prover::CardLimits kRtx4090{.multiprocessors = 128,
                                      .multiprocessor_threads = 1536,
                                      .shared_multiprocessor_bytes = 100 << 10,
                                      .shared_block_bytes = 99 << 10,
                                      .shared_reserve_bytes = 1 << 10};

uint64_t Usable(uint64_t gigabytes) { return gigabytes * kGigabyte - ReservedBytes(gigabytes * kGigabyte); }

StatusOr<CircuitPlan> PlanOf(const std::string& id, uint64_t gigabytes, unsigned workers = 2,
                             const DeviceClaims::Bytes& claimed = {}, uint64_t taken = 0,
                             const prover::CardLimits& card = kH200) {
  for (const ProductionCircuit& circuit : ProductionCircuits()) {
    if (circuit.id == id) {
      return PlanCircuit(circuit.sizes(), card, Usable(gigabytes) - taken, claimed, {.workers = workers});
    }
  }
  return absl::NotFoundError(id);
}

TEST(PlacementTest, EveryCircuitFitsOnEveryCard) {
  for (const prover::CardLimits& card : {kH200, kRtx4090}) {
    for (uint64_t gigabytes : {10u, 12u, 16u, 24u, 32u, 40u, 48u, 80u, 96u, 141u}) {
      for (const ProductionCircuit& circuit : ProductionCircuits()) {
        for (unsigned workers : {1u, 2u, 10u}) {
          SCOPED_TRACE(StrCat(circuit.id, " ", gigabytes, " GB, ", workers, " workers"));
          const auto plan = PlanOf(circuit.id, gigabytes, workers, {}, 0, card);
          ASSERT_TRUE(plan.ok()) << plan.status();
          EXPECT_GE(plan->plan.workers, 1u);
          EXPECT_LE(plan->plan.workers, workers);
          EXPECT_LE(plan->least_workspace_bytes, plan->workspace_bytes);
          const uint64_t all =
              plan->plan.parameter_device_bytes + plan->workspace_bytes + plan->plan.workers * plan->held_bytes;
          EXPECT_LE(all, Usable(gigabytes)) << plan->plan.explanation;
          EXPECT_EQ(plan->plan.placement == prover::Placement::kResident, plan->plan.parameter_host_bytes == 0);
        }
      }
    }
  }
}

TEST(PlacementTest, PointsAreWhereTheMemoryAllows) {
  struct Row {
    const char* circuit;
    uint64_t gigabytes;
    bool h, rest;
  };
  for (const Row& row : std::initializer_list<Row>{{"porep-32g", 10, false, false},
                                                   {"porep-32g", 16, false, false},
                                                   {"porep-32g", 24, true, false},
                                                   {"porep-64g", 24, true, false},
                                                   {"porep-32g", 80, true, true},
                                                   {"porep-32g", 141, true, true},
                                                   {"wpost-32g", 10, false, false},
                                                   {"wpost-32g", 24, true, false},
                                                   {"wpost-32g", 48, true, false},
                                                   {"wpost-32g", 80, true, true},
                                                   {"wpost-64g", 80, true, true},
                                                   {"snap-32g", 10, false, false},
                                                   {"snap-32g", 24, true, false},
                                                   {"snap-32g", 48, true, true},
                                                   {"winning-32g", 10, true, true}}) {
    const auto plan = PlanOf(row.circuit, row.gigabytes);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(plan->is_resident(Query::kH), row.h) << row.circuit << " " << row.gigabytes;
    for (Query q : {Query::kL, Query::kA, Query::kBG1, Query::kBG2}) {
      EXPECT_EQ(plan->is_resident(q), row.rest) << row.circuit << " " << row.gigabytes;
    }
  }
}

TEST(PlacementTest, TenPartitionsShareThePointsThatCrossTheBus) {
  const auto plan = PlanOf("porep-32g", 24, 10).value();
  EXPECT_EQ(plan.plan.workers, 10u);
  EXPECT_TRUE(plan.sweeps());
  const double each = static_cast<double>(plan.plan.partition_bus_bytes) +
                      static_cast<double>(plan.plan.shared_bus_bytes) / plan.plan.workers;
  EXPECT_LT(each, 6e9);
  EXPECT_GT(plan.plan.shared_bus_bytes, 34 * kGigabyte);
  // Alone, all of it is one partition's.
  EXPECT_EQ(PlanOf("porep-32g", 24, 1).value().plan.shared_bus_bytes, plan.plan.shared_bus_bytes);
}

TEST(PlacementTest, WindowPoStReadsItsValuesFromTheLeaseWhereTheyWouldTakeTheSumsMemory) {
  const auto plan = PlanOf("wpost-32g", 24).value();
  EXPECT_FALSE(plan.keeps_values);
  EXPECT_FALSE(plan.sweeps());
  EXPECT_LE(plan.plan.partition_bus_bytes, 66 * kGigabyte);
  EXPECT_GE(plan.slab_values, uint64_t{1} << 22);
}

TEST(PlacementTest, SumsStayLargeOnSmallCards) {
  for (const char* circuit : {"porep-32g", "wpost-32g", "snap-32g"}) {
    for (uint64_t gigabytes : {10u, 16u, 24u}) {
      const auto plan = PlanOf(circuit, gigabytes).value();
      EXPECT_GE(plan.h_terms, uint64_t{1} << 22) << circuit << " " << gigabytes;
    }
  }
}

TEST(PlacementTest, TheWorkspaceShrinksBeforeParametersAreRefused) {
  // In turn on one card, as a daemon loads them; nothing is dropped, nothing streamed.
  std::map<std::string, CircuitPlan> plans;
  DeviceClaims::Bytes claimed;
  uint64_t taken = 0;
  for (const char* circuit : {"wpost-32g", "snap-32g", "winning-32g"}) {
    const auto plan = PlanOf(circuit, 149, 2, claimed, taken);
    ASSERT_TRUE(plan.ok()) << circuit << " " << plan.status();
    EXPECT_EQ(plan->plan.placement, prover::Placement::kResident) << circuit << ": " << plan->plan.explanation;
    taken += plan->plan.parameter_device_bytes;
    claimed.workspace = std::max(claimed.workspace, plan->least_workspace_bytes);
    claimed.witness = std::max(claimed.witness, plan->plan.workers * plan->held_bytes);
  }
  EXPECT_LE(taken + claimed.workspace + claimed.witness, Usable(149));
}

TEST(PlacementTest, APlanCountsOnNothingThatOthersClaim) {
  const auto alone = PlanOf("winning-32g", 24).value();
  EXPECT_EQ(alone.plan.placement, prover::Placement::kResident);
  const auto porep = PlanOf("porep-32g", 24).value();
  const DeviceClaims::Bytes claimed{porep.least_workspace_bytes, porep.plan.workers * porep.held_bytes};
  const auto refused = PlanOf("winning-32g", 24, 2, claimed, Usable(24) - porep.held_bytes);
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status()));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("MiB"));
}

TEST(PlacementTest, WhatIsTooLittleIsRefusedWithBothNumbers) {
  const auto plan = PlanOf("porep-32g", 6);
  ASSERT_TRUE(absl::IsResourceExhausted(plan.status()));
  EXPECT_THAT(std::string(plan.status().message()), HasSubstr("one partition at a time it needs more than"));
  EXPECT_THAT(std::string(plan.status().message()), HasSubstr("there are 5365 MiB"));
}

TEST(PlacementTest, FewerWorkersRatherThanNone) {
  const auto plan = PlanOf("porep-32g", 10, 64).value();
  EXPECT_LT(plan.plan.workers, 64u);
  EXPECT_GE(plan.plan.workers, 2u);
}

}  // namespace
}  // namespace cuzk::gpu::testing
