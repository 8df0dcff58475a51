#include "core/r1cs/shape.h"

#include <gtest/gtest.h>

#include <random>

namespace cuzk::r1cs {
namespace {

IndexSet SetOf(uint64_t size, const std::vector<uint32_t>& members) {
  std::vector<uint64_t> words((size + 63) / 64);
  for (uint32_t i : members) words[i / 64] |= uint64_t{1} << (i % 64);
  return IndexSet(size, std::move(words));
}

TEST(IndexSet, RanksAndMembersAgreeWithCounting) {
  std::mt19937_64 random(1);
  for (uint64_t size : {0, 1, 63, 64, 65, 511, 512, 513, 5000}) {
    std::vector<uint32_t> members;
    for (uint32_t i = 0; i < size; ++i) {
      if (random() % 3 == 0) members.push_back(i);
    }
    const IndexSet set = SetOf(size, members);
    EXPECT_EQ(set.size(), size);
    EXPECT_EQ(set.count(), members.size());
    EXPECT_EQ(set.ToList(), members);
    uint64_t rank = 0;
    for (uint64_t i = 0; i < size; ++i) {
      EXPECT_EQ(set.Rank(i), rank);
      if (i % IndexSet::kRankBlock == 0) {
        EXPECT_EQ(set.ranks()[i / IndexSet::kRankBlock], rank);
      }
      rank += set.Contains(i);
    }
    EXPECT_EQ(set.Rank(size), rank);
  }
}

TEST(ShapeCounts, DomainHoldsTheInputRows) {
  ShapeCounts counts{.inputs = 1, .aux = 0, .rows = 1023, .nnz = {}};
  EXPECT_EQ(counts.rows_with_inputs(), 1024u);
  EXPECT_EQ(counts.log2_domain(), 10u);
  counts.inputs = 2;
  EXPECT_EQ(counts.log2_domain(), 11u);
}

}  // namespace
}  // namespace cuzk::r1cs
