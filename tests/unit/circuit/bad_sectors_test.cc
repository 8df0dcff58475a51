// How many bad sectors are told in one error.

#include "core/circuit/bad_sectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::circuit {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<BadSector> Sectors(const std::vector<uint64_t>& numbers) {
  std::vector<BadSector> sectors;
  for (uint32_t i = 0; i < numbers.size(); ++i) sectors.push_back({numbers[i], i, "comm_r: is wrong"});
  return sectors;
}

TEST(BadSectors, OneIsItsCause) {
  const Status status = BadSectorsError({{149, 1, "challenge 4: root is not comm_r_last"}});
  EXPECT_EQ(status.message(), "sector 149 (item 1), challenge 4: root is not comm_r_last");
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(BadSectorsOf(status), ElementsAre(149));
}

TEST(BadSectors, SeveralAreSortedCountedAndToldOnce) {
  const Status status = BadSectorsError(Sectors({200, 101, 102, 100, 57, 101}));
  EXPECT_THAT(std::string(status.message()),
              StartsWith("5 sectors are bad: 57, 100-102, 200; sector 57 (item 4), comm_r: is wrong; sector 100"));
  EXPECT_THAT(BadSectorsOf(status), ElementsAre(57, 100, 101, 102, 200));
}

TEST(BadSectors, ATextThatIsTooLongIsCutAndTheNumbersAreNot) {
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < 2349; ++i) numbers.push_back(UINT64_MAX - 3 * i);
  const Status status = BadSectorsError(Sectors(numbers));
  const std::string text(status.message());
  EXPECT_LE(text.size(), kBadSectorsText);
  EXPECT_THAT(text, HasSubstr(" more; sector 18446744073709544571 (item 2348), comm_r: is wrong; "));
  EXPECT_THAT(text, EndsWith(" more causes"));
  EXPECT_EQ(BadSectorsOf(status).size(), 2349);
  EXPECT_LE(BadSectorsError({{1, 0, std::string(5000, 'x')}}).message().size(), kBadSectorsText);
}

TEST(BadSectors, AnnotateKeepsTheNumbers) {
  const Status status = Annotate(BadSectorsError(Sectors({7, 9})), "partition 3");
  EXPECT_THAT(std::string(status.message()), StartsWith("partition 3: 2 sectors are bad: 7, 9; "));
  EXPECT_THAT(BadSectorsOf(status), ElementsAre(7, 9));
  EXPECT_TRUE(BadSectorsOf(absl::InvalidArgumentError("sector 7")).empty());
}

}  // namespace
}  // namespace cuzk::circuit
