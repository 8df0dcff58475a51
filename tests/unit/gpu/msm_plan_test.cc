// Plans of sums for the cards that providers own, made where there is none.

#include <gtest/gtest.h>

#include "gpu/msm/bucket_sort.h"
#include "gpu/msm/msm.h"

namespace cuzk::gpu {
namespace {

using algebra::Fp;
using algebra::Fp2;
using prover::CardLimits;

struct NamedCard {
  const char* name;
  CardLimits limits;
};

constexpr uint32_t kKiB = 1 << 10;
CardLimits Limits(uint64_t gigabytes, uint32_t multiprocessors, uint32_t threads, uint32_t shared, uint32_t reserve) {
  return {.memory_bytes = gigabytes * 1'000'000'000,
          .multiprocessors = multiprocessors,
          .multiprocessor_threads = threads,
          .shared_multiprocessor_bytes = shared * kKiB,
          .shared_block_bytes = (shared - reserve) * kKiB,
          .shared_reserve_bytes = reserve * kKiB};
}
const NamedCard kCards[] = {{"RTX 2080 Ti", Limits(11, 68, 1024, 64, 0)}, {"A100", Limits(40, 108, 2048, 164, 1)},
                            {"RTX 3080", Limits(10, 68, 1536, 100, 1)},   {"RTX 4090", Limits(24, 128, 1536, 100, 1)},
                            {"H200", Limits(141, 132, 2048, 228, 1)},     {"RTX 5090", Limits(32, 170, 1536, 100, 1)}};
constexpr uint32_t kSizes[] = {1, 31, 1000, 1 << 16, 1 << 20, 1 << 24, (1 << 27) - 1};

template <class F>
class MsmPlans : public ::testing::Test {};
using Groups = ::testing::Types<Fp, Fp2>;
TYPED_TEST_SUITE(MsmPlans, Groups);

TYPED_TEST(MsmPlans, FitTheirMemoryAndTheCardsSharedMemory) {
  for (const NamedCard& card : kCards) {
    for (uint32_t terms : kSizes) {
      for (uint64_t memory : {card.limits.memory_bytes, card.limits.memory_bytes / 2}) {
        auto plan = PlanMsm<TypeParam>(card.limits, terms, memory);
        if (!plan.ok()) {
          EXPECT_TRUE(terms > 1 << 24 && absl::IsResourceExhausted(plan.status())) << plan.status();
          continue;
        }
        EXPECT_LE(plan->bytes, memory) << card.name << ", " << terms;
        EXPECT_EQ(plan->affine, terms >= 1u << 20) << card.name << ", " << terms;
        const SortPlan sort = SortPlan::For(*plan);
        EXPECT_GT(sort.tile, 0u);
        EXPECT_LE(sort.ScatterBytes(), card.limits.shared_block_bytes) << card.name << ", " << terms;
        EXPECT_LE(sort.OrderBytes(), card.limits.shared_block_bytes) << card.name << ", " << terms;
      }
    }
  }
}

// A card with less shared memory sums with the same windows.
TYPED_TEST(MsmPlans, DoNotDependOnSharedMemoryInTheirWindows) {
  CardLimits large = kCards[4].limits, small = large;
  small.shared_multiprocessor_bytes = 64 * kKiB;
  small.shared_block_bytes = 64 * kKiB;
  small.shared_reserve_bytes = 0;
  for (uint32_t terms : kSizes) {
    const uint64_t memory = uint64_t{40} << 30;
    auto a = PlanMsm<TypeParam>(large, terms, memory), b = PlanMsm<TypeParam>(small, terms, memory);
    ASSERT_TRUE(a.ok() && b.ok()) << terms;
    EXPECT_EQ(a->windows.count, b->windows.count) << terms;
    EXPECT_EQ(a->item_limit, b->item_limit) << terms;
  }
}

TYPED_TEST(MsmPlans, SayWhatIsMissing) {
  auto plan = PlanMsm<TypeParam>(kCards[3].limits, 100000, 1 << 20);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(std::string(plan.status().message()).find("there are 1048576"), std::string::npos) << plan.status();
  EXPECT_EQ(PlanMsm<TypeParam>(kCards[3].limits, 0, 1 << 30).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace cuzk::gpu
