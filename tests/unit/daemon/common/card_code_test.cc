#include "daemon/common/card_code.h"

#include <gtest/gtest.h>

namespace cuzk::daemon {
namespace {

TEST(CardCode, InstructionsRunOnCardsOfTheirMajorNumberThatAreNotOlder) {
  for (Capability card : {Capability{8, 6}, Capability{8, 7}, Capability{8, 9}}) {
    EXPECT_EQ(LackOfCode("86 90", "a card", card), "") << card.minor;
  }
  EXPECT_NE(LackOfCode("86 90", "a card", {8, 0}), "");
  EXPECT_NE(LackOfCode("90", "a card", {8, 9}), "");
}

TEST(CardCode, TheLastCapabilityIsThereAsPtxForLaterCards) {
  EXPECT_EQ(LackOfCode("75 90", "a card", {12, 0}), "");
  EXPECT_EQ(LackOfCode("90", "a card", {10, 0}), "");
  // Not PTX of the first.
  EXPECT_NE(LackOfCode("75 120", "a card", {8, 6}), "");
  EXPECT_NE(LackOfCode("75 120", "a card", {10, 3}), "");
}

TEST(CardCode, EveryCardThatProvidersOwnHasCodeInAFullBuild) {
  for (Capability card : {Capability{7, 5}, {8, 0}, {8, 6}, {8, 9}, {9, 0}, {10, 0}, {10, 3}, {12, 0}, {12, 1}}) {
    EXPECT_EQ(LackOfCode("75 80 86 89 90 100 120", "a card", card), "") << card.major << "." << card.minor;
  }
  EXPECT_NE(LackOfCode("75 80 86 89 90 100 120", "a card", {7, 0}), "");
}

TEST(CardCode, TheTextNamesTheCardAndWhatThereIs) {
  EXPECT_EQ(LackOfCode("75 80 90", "NVIDIA GeForce RTX 4090", {8, 9}), "");
  EXPECT_EQ(LackOfCode("75 90", "NVIDIA GeForce RTX 4090", {8, 9}),
            "this build has no code for NVIDIA GeForce RTX 4090 (8.9); it has code for 7.5 and 9.0");
  EXPECT_EQ(LackOfCode("75 90 100", "A card", {8, 9}),
            "this build has no code for A card (8.9); it has code for 7.5, 9.0 and 10.0");
  EXPECT_EQ(LackOfCode("90", "A card", {8, 9}), "this build has no code for A card (8.9); it has code for 9.0");
  EXPECT_EQ(LackOfCode("none", "A card", {8, 9}), "this build has no code for A card (8.9); it has code for no card");
}

}  // namespace
}  // namespace cuzk::daemon
