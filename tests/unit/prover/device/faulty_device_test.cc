// The test double does what it says: other rooms' tests rest on it.

#include "tests/doubles/faulty_device.h"

#include <gtest/gtest.h>

#include <future>

#include "tests/unit/prover/proving.h"

namespace cuzk::prover {
namespace {

using testing_support::FaultKind;
using testing_support::FaultPoint;
using testing_support::FaultyDevice;

class FaultyDeviceTest : public testing::Test {
 protected:
  StatusOr<groth16::MsmResults> Prove(std::stop_token stop = {}) {
    CUZK_ASSIGN_OR_RETURN(auto pending, device_.Start(parameters_, proving_.Witness(), {.stop = stop}));
    return pending->Finish();
  }
  bool Verifies() { return proving_.Verifies(parameters_->verifying_key(), Prove().value()); }

  testing_support::Proving proving_{testing_support::MixedCircuit({})};
  std::unique_ptr<Device> inner_ = MakeCpuDevice({.pool = &proving_.pool()});
  FaultyDevice device_{*inner_};
  std::shared_ptr<const ResidentParameters> parameters_ = proving_.Load(device_).value();
};

TEST_F(FaultyDeviceTest, StrikesTheNthCallAlone) {
  device_.Add({.point = FaultPoint::kStart, .kind = FaultKind::kOutOfMemory, .first = 1});
  EXPECT_TRUE(Verifies());
  EXPECT_TRUE(absl::IsResourceExhausted(Prove().status()));
  EXPECT_TRUE(Verifies());
  device_.Add({.point = FaultPoint::kFinish, .kind = FaultKind::kInternal, .first = 2, .count = 2});
  EXPECT_TRUE(absl::IsInternal(Prove().status()));
  EXPECT_TRUE(absl::IsInternal(Prove().status()));
  EXPECT_TRUE(Verifies());
  EXPECT_EQ(device_.calls(FaultPoint::kStart), 6u);
}

TEST_F(FaultyDeviceTest, CorruptSumsDoNotVerify) {
  for (FaultKind kind : {FaultKind::kCorruptH, FaultKind::kCorruptB}) {
    device_.Add({.point = FaultPoint::kFinish, .kind = kind, .first = device_.calls(FaultPoint::kFinish)});
    EXPECT_FALSE(Verifies());
    EXPECT_TRUE(Verifies());
  }
}

TEST_F(FaultyDeviceTest, LostStaysLost) {
  device_.Add({.point = FaultPoint::kFinish, .kind = FaultKind::kLost});
  EXPECT_TRUE(device_.health().ok());
  EXPECT_TRUE(absl::IsUnavailable(Prove().status()));
  device_.ClearFaults();
  EXPECT_TRUE(absl::IsUnavailable(device_.health()));
  EXPECT_TRUE(absl::IsUnavailable(Prove().status()));
  EXPECT_TRUE(absl::IsUnavailable(proving_.Load(device_).status()));
}

TEST_F(FaultyDeviceTest, HoldsUntilReleasedOrStopped) {
  device_.Hold();
  std::stop_source stop;
  auto stopped = std::async(std::launch::async, [&] { return Prove(stop.get_token()).status(); });
  auto released = std::async(std::launch::async, [&] { return Prove().status(); });
  while (device_.waiting() < 2) std::this_thread::yield();
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(stopped.get()));
  device_.Release();
  EXPECT_TRUE(released.get().ok());
}

}  // namespace
}  // namespace cuzk::prover
