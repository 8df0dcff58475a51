// Every recorded request is read, holds every relation, and gives the recorded public inputs, both from its vanilla
// proofs and from public values alone.

#include <gtest/gtest.h>

#include "tests/unit/filecoin/samples.h"

namespace cuzk::filecoin {
namespace {

using testing_support::ParseAndCheck;
using testing_support::RecordedPublicInputs;
using testing_support::RequestDirectories;

class RecordedRequests : public ::testing::TestWithParam<const char*> {};

TEST_P(RecordedRequests, GiveTheRecordedPublicInputs) {
  size_t compared = 0;
  for (const auto& directory : RequestDirectories(GetParam())) {
    SCOPED_TRACE(directory.string());
    auto read = ReadRequestDirectory(directory);
    ASSERT_TRUE(read.ok()) << read.status();
    uint64_t number = read->request.registered_proof;
    auto parsed = ParseAndCheck(std::move(read->request));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->proof->number, number);
    auto verification = ReadVerification(directory);
    ASSERT_TRUE(verification.ok()) << verification.status();
    EXPECT_EQ(verification->proof, parsed->proof);
    ASSERT_EQ(parsed->partitions.size(), parsed->proof->partitions());
    ASSERT_EQ(verification->public_inputs.size(), parsed->partitions.size());
    auto recorded = RecordedPublicInputs(directory);
    for (size_t k = 0; k < parsed->partitions.size(); ++k) {
      EXPECT_EQ(parsed->partitions[k].index, k);
      EXPECT_EQ(parsed->partitions[k].public_inputs.size(), parsed->proof->circuit->public_inputs);
      EXPECT_TRUE(verification->public_inputs[k] == parsed->partitions[k].public_inputs) << "partition " << k;
      if (recorded.empty()) continue;
      EXPECT_TRUE(recorded.at(k) == parsed->partitions[k].public_inputs) << "partition " << k;
      ++compared;
    }
  }
  EXPECT_GT(compared, 0u);
}

INSTANTIATE_TEST_SUITE_P(AllKinds, RecordedRequests, ::testing::Values("porep", "window", "winning", "snap"),
                         [](const auto& info) { return std::string(info.param); });

TEST(RequestDirectory, IdsAreCurios) {
  EXPECT_EQ(testing_support::Recorded("porep/2KiB-v1_1-1000-84").request_id, "porep-1000-84");
  EXPECT_EQ(testing_support::Recorded("snap/2KiB-snap-1000-85").request_id, "snap-1000-85");
  EXPECT_EQ(testing_support::Recorded("window/2KiB-window-1000-1of3-part1").request_id,
            "wdpost-1000-1-[56 149 193 42 80 135 194 87]");
  EXPECT_EQ(testing_support::Recorded("winning/2KiB-winning-1000-a").request_id, "winpost-1000-0bcc98fdf3492e20");
}

}  // namespace
}  // namespace cuzk::filecoin
