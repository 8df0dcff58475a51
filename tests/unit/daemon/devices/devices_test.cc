#include "daemon/devices/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<prover::DeviceIdentity> kThree = {{.uuid = "GPU-a"}, {.uuid = "GPU-b"}, {.uuid = "GPU-c"}};

TEST(CardsToUseTest, AllUnlessSomeAreNamed) {
  EXPECT_THAT(CardsToUse({}, kThree).value(), ElementsAre(0, 1, 2));
  EXPECT_THAT(CardsToUse({}, {}).value(), IsEmpty());
}

TEST(CardsToUseTest, ByNumberOrUuidInTheCardsOrderAndOnce) {
  EXPECT_THAT(CardsToUse({"GPU-c", "0", "GPU-a"}, kThree).value(), ElementsAre(0, 2));
}

TEST(CardsToUseTest, OneThatIsNotHereIsNamedBesideThoseThatAre) {
  for (const char* wish : {"3", "-1", "GPU-d", "01", ""}) {
    const auto cards = CardsToUse({"0", wish}, kThree);
    ASSERT_TRUE(absl::IsNotFound(cards.status())) << wish;
    EXPECT_THAT(std::string(cards.status().message()), HasSubstr("there are 0 (GPU-a), 1 (GPU-b), 2 (GPU-c)"));
  }
  EXPECT_THAT(std::string(CardsToUse({"0"}, {}).status().message()), HasSubstr("there are none"));
}

}  // namespace
}  // namespace cuzk::daemon
