// Devices that are faulty and not lost are taken out, told, and brought back; the last one that works goes on.

#include <gmock/gmock.h>

#include <algorithm>

#include "core/engine/stages/quarantine.h"
#include "tests/unit/engine/small_engine.h"

namespace cuzk::engine {
namespace {

using testing::HasSubstr;
using testing_support::FaultKind;
using testing_support::FaultPoint;
using testing_support::SmallEngine;
using testing_support::SmallEngineOptions;

SmallEngineOptions Two() { return {.devices = 2, .engine = {.quarantine_errors = 3}}; }

bool IsOut(const EngineStatus& status, size_t device) {
  return status.devices[device].service == DeviceService::kQuarantined;
}

TEST(Quarantine, ADeviceWhoseProofsAreWrongTwiceIsTakenOutAndTheWorkGoesOn) {
  for (FaultKind kind : {FaultKind::kCorruptH, FaultKind::kCorruptB}) {
    SmallEngine engine(Two());
    engine.device(0).Add({FaultPoint::kFinish, kind, 0, 1000});
    engine.ProveUntil([](const EngineStatus& status) { return IsOut(status, 0); });
    EngineStatus status = engine->Snapshot();
    EXPECT_THAT(status.devices[0].service_reason, HasSubstr("2 of its proofs were wrong"));
    EXPECT_EQ(status.counters.quarantines_total, 1u);
    EXPECT_TRUE(std::any_of(status.last_errors.begin(), status.last_errors.end(), [](const ErrorStatus& error) {
      return error.text.find("is taken out of service: 2 of its proofs were wrong") != std::string::npos;
    }));
    const uint64_t before = engine.device(0).calls(FaultPoint::kStart);
    EXPECT_TRUE(engine.Verifies(engine.Prove("9"), 9));
    EXPECT_EQ(engine.device(0).calls(FaultPoint::kStart), before);
    EXPECT_TRUE(engine->Ready().ok());
  }
}

TEST(Quarantine, OneWrongProofIsAnAccident) {
  SmallEngine engine(Two());
  engine.device(0).Add({FaultPoint::kFinish, FaultKind::kCorruptH, 0, 1});
  engine.ProveUntil([](const EngineStatus& status) { return status.counters.wrong_proofs_total == 1; });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(engine.Prove("4").state, JobState::kCompleted);
  EXPECT_EQ(engine->Snapshot().devices[0].service, DeviceService::kWorks);
  EXPECT_EQ(engine->Snapshot().devices[0].wrong_proofs, 1u);
}

TEST(Quarantine, WrongProofsOfEveryDeviceAreNotTheDevices) {
  SmallEngineOptions options = Two();
  options.after_assembly = [](const std::string&, uint32_t, std::span<uint8_t> proof) { proof[100] ^= 1; };
  SmallEngine engine(options);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(engine.Prove("3").state, JobState::kFailed);
  for (const DeviceStatus& device : engine->Snapshot().devices) EXPECT_EQ(device.service, DeviceService::kWorks);
}

TEST(Quarantine, ADeviceThatReturnsErrorsInARowIsTakenOut) {
  SmallEngine engine(Two());
  engine.device(0).Add({FaultPoint::kStart, FaultKind::kInternal, 0, 1000});
  engine.ProveUntil([](const EngineStatus& status) { return IsOut(status, 0); });
  EXPECT_THAT(engine->Snapshot().devices[0].service_reason,
              HasSubstr("3 errors in a row, the last: the device failed (injected)"));
  EXPECT_TRUE(engine.Verifies(engine.Prove("9"), 9));
}

TEST(Quarantine, ErrorsWithSuccessesBetweenThemAreNotInARow) {
  SmallEngine engine(Two());
  for (uint64_t i = 0; i < 100; i += 2) engine.device(0).Add({FaultPoint::kStart, FaultKind::kInternal, i, 1});
  engine.ProveUntil([](const EngineStatus& status) { return status.counters.device_errors_total >= 6; });
  EXPECT_FALSE(IsOut(engine->Snapshot(), 0));
}

TEST(Quarantine, IsOffWhereItIsNotWanted) {
  SmallEngineOptions options = Two();
  options.engine.quarantine_errors = 0;
  SmallEngine engine(options);
  engine.device(0).Add({FaultPoint::kStart, FaultKind::kInternal, 0, 1000});
  engine.ProveUntil([](const EngineStatus& status) { return status.counters.device_errors_total >= 6; });
  engine->DoubtDevice(0, "it hangs");
  EXPECT_EQ(engine->Snapshot().devices[0].service, DeviceService::kWorks);
}

/// Two devices of which the first has a partition and hangs.
class Hanging : public testing::Test {
 protected:
  /// The job whose partition is inside.
  JobTicket HangFirst() {
    EXPECT_TRUE(engine_->SetDevice("GPU-small-1", false).ok());
    engine_.device(0).Hang();
    JobTicket ticket = engine_.Submit("hangs", "2");
    engine_.WaitFor([&](const EngineStatus&) { return engine_.device(0).waiting() == 2; });
    EXPECT_TRUE(engine_->SetDevice("GPU-small-1", true).ok());
    return ticket;
  }
  SmallEngine engine_{{.devices = 2, .engine = {.quarantine_errors = 3}}};
};

TEST_F(Hanging, ItsPartitionsAreProvedElsewhereAlthoughItNeverReturns) {
  const JobTicket ticket = HangFirst();
  engine_->DoubtDevice(0, "it makes no progress while others do");
  EXPECT_TRUE(engine_.Verifies(engine_.Await(ticket), 2));
  EXPECT_EQ(engine_.device(0).waiting(), 2u);
  EXPECT_TRUE(engine_.Verifies(engine_.Prove("5"), 5));
  // The partitions that were taken back are still inside: the device cannot be tested.
  const Status status = engine_->SetDevice("GPU-small-0", true).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  engine_.device(0).Release();
  engine_.WaitFor([](const EngineStatus& now) {
    const auto& workers = now.devices[0].workers;
    return std::none_of(workers.begin(), workers.end(), [](const auto& worker) { return worker.job_key.has_value(); });
  });
  EXPECT_TRUE(IsOut(engine_->Snapshot(), 0));
  EXPECT_EQ(engine_->Snapshot().counters.partitions_total, 7u);  // what came back late was not counted
}

TEST(Quarantine, TheLastDeviceGoesOnAndIsTold) {
  SmallEngineOptions options = Two();
  options.devices = 1;
  SmallEngine engine(options);
  engine->DoubtDevice(0, "Xid 79");
  const EngineStatus status = engine->Snapshot();
  EXPECT_EQ(status.devices[0].service, DeviceService::kDoubted);
  EXPECT_EQ(status.devices[0].service_reason, "Xid 79");
  EXPECT_THAT(status.last_errors.at(0).text,
              HasSubstr("should be taken out of service: Xid 79; it stays in service, because no other"));
  EXPECT_TRUE(engine.Verifies(engine.Prove("3"), 3));
  // Nor may an operator take it out.
  EXPECT_TRUE(absl::IsFailedPrecondition(engine->SetDevice("GPU-small-0", false).status()));
}

TEST(Quarantine, AnOperatorBringsADeviceBackAfterItsSelfTest) {
  SmallEngineOptions options = Two();
  Status verdict = absl::DataLossError("the proof of a circuit is wrong");
  int tests = 0;
  options.self_test = [&](prover::Device& device) {
    EXPECT_EQ(device.identity().uuid, "GPU-small-0");
    ++tests;
    return verdict;
  };
  SmallEngine engine(options);
  engine->DoubtDevice(0, "Xid 79");
  const Status failed = engine->SetDevice("GPU-small-0", true).status();
  EXPECT_TRUE(absl::IsDataLoss(failed)) << failed;
  EXPECT_THAT(std::string(failed.message()), HasSubstr("the self-test: the proof of a circuit is wrong"));
  EXPECT_TRUE(IsOut(engine->Snapshot(), 0));
  EXPECT_THAT(engine->Snapshot().last_errors.at(0).text, HasSubstr("stays quarantined: the self-test"));
  const uint64_t before = engine.device(0).calls(FaultPoint::kStart);
  EXPECT_TRUE(engine.Verifies(engine.Prove("5"), 5));
  EXPECT_EQ(engine.device(0).calls(FaultPoint::kStart), before);

  verdict = absl::OkStatus();
  const auto enabled = engine->SetDevice("GPU-small-0", true);
  ASSERT_TRUE(enabled.ok()) << enabled.status();
  EXPECT_EQ(enabled->service, DeviceService::kWorks);
  EXPECT_EQ(tests, 2);
  // It proves again, alone if need be.
  ASSERT_TRUE(engine->SetDevice("GPU-small-1", false).ok());
  EXPECT_EQ(engine->Snapshot().devices[1].service, DeviceService::kDisabled);
  EXPECT_TRUE(engine.Verifies(engine.Prove("5"), 5));
  EXPECT_GT(engine.device(0).calls(FaultPoint::kStart), before);
  // One that works is not tested.
  EXPECT_TRUE(engine->SetDevice("GPU-small-0", true).ok());
  EXPECT_EQ(tests, 2);
}

TEST(Quarantine, ADoubtedDeviceIsTakenOutOnceAnotherOneWorks) {
  SmallEngine engine(Two());
  ASSERT_TRUE(engine->SetDevice("GPU-small-1", false).ok());
  engine->DoubtDevice(0, "Xid 79");
  EXPECT_EQ(engine->Snapshot().devices[0].service, DeviceService::kDoubted);
  EXPECT_TRUE(engine.Verifies(engine.Prove("2"), 2));
  ASSERT_TRUE(engine->SetDevice("GPU-small-1", true).ok());
  const EngineStatus status = engine->Snapshot();
  EXPECT_EQ(status.devices[0].service, DeviceService::kQuarantined);
  EXPECT_EQ(status.devices[1].service, DeviceService::kWorks);
  EXPECT_TRUE(engine.Verifies(engine.Prove("3"), 3));
}

TEST(Quarantine, ALoadOfADeviceThatIsTakenOutEndsAndTheOtherOneServesTheJob) {
  SmallEngine engine(Two());
  engine.device(0).HoldLoads();
  engine.device(1).HoldLoads();
  const JobTicket ticket = engine.Submit("loads", "2");
  engine.WaitFor(
      [&](const EngineStatus&) { return engine.device(0).waiting_loads() + engine.device(1).waiting_loads() == 2; });
  engine->DoubtDevice(0, "Xid 79");
  engine.WaitFor([&](const EngineStatus&) { return engine.device(0).waiting_loads() == 0; });
  engine.device(1).ReleaseLoads();
  EXPECT_TRUE(engine.Verifies(engine.Await(ticket), 2));
}

TEST(Quarantine, WhatADeviceThatIsOutHasLoadedIsNotCountedAsLoaded) {
  SmallEngine engine(Two());
  ASSERT_TRUE(engine->SetDevice("GPU-small-1", false).ok());
  ASSERT_TRUE(engine->Preload("porep-2k").ok());
  ASSERT_TRUE(engine->SetDevice("GPU-small-1", true).ok());
  ASSERT_TRUE(engine->SetDevice("GPU-small-0", false).ok());
  const auto loaded = engine->Preload("porep-2k");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_FALSE(loaded->already_loaded);
  EXPECT_EQ(engine.device(1).calls(FaultPoint::kLoad), 1u);
  EXPECT_TRUE(engine->Preload("porep-2k")->already_loaded);
}

TEST(Quarantine, ADeviceThatIsNotThereIsNamedWithThoseThatAre) {
  SmallEngine engine(Two());
  const Status status = engine->SetDevice("GPU-none", false).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("there are cpu (GPU-small-0), cpu (GPU-small-1)"));
}

TEST(Quarantine, LosingTheLastDeviceWhileAnotherIsOutEndsTheWork) {
  SmallEngine engine(Two());
  ASSERT_TRUE(engine->SetDevice("GPU-small-0", false).ok());
  engine.device(1).Lose();
  EXPECT_EQ(engine.Prove("1").state, JobState::kFailed);
  EXPECT_FALSE(engine->Ready().ok());
}

}  // namespace
}  // namespace cuzk::engine
