#include "core/base/settings/nearest_name.h"

#include <gtest/gtest.h>

#include <vector>

namespace cuzk {
namespace {

TEST(NearestNameTest, DistanceCountsSingleCharacters) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("status", "status"), 0u);
  EXPECT_EQ(EditDistance("staus", "status"), 1u);    // one is missing
  EXPECT_EQ(EditDistance("statuss", "status"), 1u);  // one too many
  EXPECT_EQ(EditDistance("stapus", "status"), 1u);   // another one
  EXPECT_EQ(EditDistance("satus", "status"), 1u);
  EXPECT_EQ(EditDistance("sattus", "status"), 1u);  // two neighbours swapped
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
}

TEST(NearestNameTest, OnlyWhatIsNearIsNamed) {
  const std::vector<std::string> names{"status", "submit", "prove", "top"};
  EXPECT_EQ(NearestName("statsu", names), "status");
  EXPECT_EQ(NearestName("prvoe", names), "prove");
  EXPECT_EQ(NearestName("tpo", names), "top");
  EXPECT_EQ(NearestName("x", names), "");
  EXPECT_EQ(NearestName("frobnicate", names), "");
  EXPECT_EQ(NearestName("", names), "");
  EXPECT_EQ(DidYouMean("staus", names), "; did you mean \"status\"?");
  EXPECT_EQ(DidYouMean("frobnicate", names), "");
}

}  // namespace
}  // namespace cuzk
