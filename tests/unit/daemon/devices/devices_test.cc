#include "daemon/devices/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/prover/device/driver_error.h"
#include "tests/doubles/scripted_cards.h"

namespace cuzk::daemon {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::vector<std::string> kThree = {"GPU-a", "GPU-b", "GPU-c"};

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
    ASSERT_TRUE(absl::IsUnavailable(cards.status())) << wish;
    EXPECT_THAT(std::string(cards.status().message()), HasSubstr("there are 0 (GPU-a), 1 (GPU-b), 2 (GPU-c)"));
  }
  EXPECT_THAT(std::string(CardsToUse({"0"}, {}).status().message()), HasSubstr("there are none"));
}

class DevicesTest : public ::testing::Test {
 protected:
  DevicesTest() { std::filesystem::create_directories(pci_); }
  ~DevicesTest() override { std::filesystem::remove_all(folder_); }

  void Says(std::string_view words) { std::ofstream(folder_ / "script") << words; }
  void AddToBus(const std::string& address, std::string_view vendor = "0x10de", std::string_view kind = "0x030200") {
    std::filesystem::create_directories(pci_ / address);
    std::ofstream(pci_ / address / "vendor") << vendor << '\n';
    std::ofstream(pci_ / address / "class") << kind << '\n';
  }
  DeviceSearch Find(std::string_view use) {
    return FindDevices({.use = std::string(use)}, {&cards_, pci_}, algebra::Arithmetic::kScalar, pool_);
  }

  const std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) / StrCat("devices-", getpid());
  const std::filesystem::path pci_ = folder_ / "pci";
  ThreadPool pool_{1};
  testing_support::ScriptedCards cards_{folder_ / "script"};
};

TEST_F(DevicesTest, TheBusTellsWhichCardsThereAre) {
  EXPECT_THAT(NvidiaCards(pci_), IsEmpty());
  EXPECT_THAT(NvidiaCards(folder_ / "absent"), IsEmpty());
  AddToBus("0000:af:00.0");
  AddToBus("0000:3b:00.0", "0x10de", "0x030000");
  AddToBus("0000:3b:00.1", "0x10de", "0x040300");  // its sound
  AddToBus("0000:00:02.0", "0x1002", "0x030000");  // another maker's
  AddToBus("0000:05:00.0", "0x10de", "0x068000");  // a switch between cards
  std::filesystem::create_directories(pci_ / "0000:06:00.0");
  EXPECT_THAT(NvidiaCards(pci_), ElementsAre("0000:3b:00.0", "0000:af:00.0"));
  std::filesystem::create_directory_symlink("../../../bus/pci/drivers/vfio-pci", pci_ / "0000:af:00.0/driver");
  EXPECT_THAT(NvidiaCards(pci_), ElementsAre("0000:3b:00.0"));
}

TEST_F(DevicesTest, AutoTakesTheCpuOnlyWhereTheBusShowsNoCard) {
  Says("100");
  DeviceSearch search = Find("auto");
  ASSERT_TRUE(search.choice.ok()) << search.choice.status();
  EXPECT_TRUE(search.choice->fallback_to_cpu);
  EXPECT_THAT(search.choice->explanation,
              HasSubstr("because the PCI bus shows no NVIDIA card: cuInit: 100 (NoDevice)"));

  AddToBus("0000:3b:00.0");
  for (const char* says : {"3", "46", "100", "802", "803", "999", "cards 46", "cards wrong", ""}) {
    Says(says);
    search = Find("auto");
    EXPECT_TRUE(absl::IsUnavailable(search.choice.status())) << says;
    EXPECT_TRUE(search.may_come) << says;
    EXPECT_EQ(search.present, 1);
  }
  Says("803");
  search = Find("auto");
  EXPECT_EQ(prover::DriverCodeOf(search.choice.status()), 803);
  EXPECT_THAT(std::string(search.choice.status().message()),
              AllOf(HasSubstr("this machine has 1 NVIDIA card (0000:3b:00.0), and none can be used"),
                    HasSubstr("cuInit: 803 (SystemDriverMismatch)"), HasSubstr("; reboot"),
                    HasSubstr("set devices.use = \"cpu\" to prove without a card")));
}

TEST_F(DevicesTest, ACardThatTheDriverShowsIsTakenWhateverTheBusShows) {
  Says("cards ok");  // a container without /sys
  DeviceSearch search = Find("auto");
  ASSERT_TRUE(search.choice.ok());
  EXPECT_EQ(search.choice->devices[0]->ordinal(), 0);
  EXPECT_FALSE(search.choice->fallback_to_cpu);
}

TEST_F(DevicesTest, OneCardThatFailsLeavesTheOthers) {
  AddToBus("0000:3b:00.0");
  Says("cards 46 ok wrong full");
  DeviceSearch search = Find("gpu");
  ASSERT_TRUE(search.choice.ok()) << search.choice.status();
  ASSERT_EQ(search.choice->devices.size(), 2);
  EXPECT_EQ(search.choice->devices[0]->identity().uuid, "GPU-double-1");
  EXPECT_EQ(search.choice->devices[1]->identity().uuid, "GPU-double-3");
  ASSERT_EQ(search.choice->left_out.size(), 2);
  EXPECT_EQ(search.choice->left_out[0].uuid, "GPU-double-0");
  EXPECT_THAT(search.choice->left_out[0].why, AllOf(HasSubstr("card 0 cannot be used"), HasSubstr(": 46 (")));
  EXPECT_THAT(search.choice->left_out[1].why, HasSubstr("card 2, "));
}

TEST_F(DevicesTest, KindsAreOfTheCardsThatAreNamed) {
  AddToBus("0000:3b:00.0");
  Says("cards ok ok ok");
  const DeviceSearch search = Find("gpu");
  ASSERT_TRUE(search.choice.ok());
  auto rows = ParseKinds({"0=window+winning", "GPU-double-2=porep"});
  ASSERT_TRUE(rows.ok()) << rows.status();
  auto kinds = KindsOf(search.choice->devices, *rows);
  ASSERT_TRUE(kinds.ok()) << kinds.status();
  using filecoin::Kind;
  EXPECT_THAT(*kinds, ElementsAre(std::set{Kind::kWindow, Kind::kWinning}, IsEmpty(), std::set{Kind::kPorep}));
  const Status none = KindsOf(search.choice->devices, *ParseKinds({"7=snap"})).status();
  EXPECT_TRUE(absl::IsUnavailable(none));
  EXPECT_THAT(std::string(none.message()),
              HasSubstr("card 7 is not in use; the cards in use are 0 (GPU-double-0), 1 (GPU-double-1)"));
}

TEST_F(DevicesTest, WhatCannotComeIsNotWaitedFor) {
  Says("100");
  EXPECT_FALSE(Find("gpu").may_come);  // no card on the bus
  EXPECT_TRUE(absl::IsUnavailable(Find("gpu").choice.status()));
  AddToBus("0000:3b:00.0");
  const DeviceSearch other_build = FindDevices({.use = "auto"}, {nullptr, pci_}, algebra::Arithmetic::kScalar, pool_);
  EXPECT_FALSE(other_build.may_come);
  EXPECT_THAT(std::string(other_build.choice.status().message()), HasSubstr("this build has no CUDA back end"));
  EXPECT_TRUE(Find("cpu").choice.ok());
}

TEST_F(DevicesTest, NotesTellWhatTheStartWouldFind) {
  Says("999");
  EXPECT_THAT(DeviceNotes("auto", {&cards_, pci_}), IsEmpty());
  EXPECT_THAT(DeviceNotes("gpu", {&cards_, pci_}), ElementsAre(HasSubstr("this machine has 0 NVIDIA cards, and none")));
  AddToBus("0000:3b:00.0");
  EXPECT_THAT(DeviceNotes("auto", {&cards_, pci_}), ElementsAre(HasSubstr("modprobe nvidia_uvm")));
  EXPECT_THAT(DeviceNotes("cpu", {&cards_, pci_}), IsEmpty());
  Says("cards ok");
  EXPECT_THAT(DeviceNotes("auto", {&cards_, pci_}), IsEmpty());
}

}  // namespace
}  // namespace cuzk::daemon
