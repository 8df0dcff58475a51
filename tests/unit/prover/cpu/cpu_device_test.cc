#include "core/prover/cpu/cpu_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/memory/faulty_allocator.h"
#include "tests/unit/prover/proving.h"

namespace cuzk::prover {
namespace {

using algebra::Arithmetic;
using r1cs::Layout;
using testing::HasSubstr;
using testing_support::MixedCircuit;
using testing_support::Proving;

class CpuDeviceTest : public testing::TestWithParam<Arithmetic> {
 protected:
  void SetUp() override {
    if (!IsSupported(GetParam())) GTEST_SKIP() << "not on this processor";
  }
  std::unique_ptr<Device> MakeDevice(Proving& proving, memory::HostAllocator* allocator = nullptr) {
    return MakeCpuDevice({.pool = &proving.pool(), .arithmetic = GetParam(), .allocator = allocator});
  }
};

StatusOr<groth16::MsmResults> Prove(Device& device, std::shared_ptr<const ResidentParameters> parameters,
                                    r1cs::Witness witness, const StartOptions& options = {}) {
  CUZK_ASSIGN_OR_RETURN(auto pending, device.Start(std::move(parameters), std::move(witness), options));
  return pending->Finish();
}

TEST_P(CpuDeviceTest, ProofsVerifyAndLayoutsAgree) {
  for (uint32_t size : {1, 20, 333}) {
    Proving proving(MixedCircuit({.size = size, .seed = size}));
    auto device = MakeDevice(proving);
    auto parameters = proving.Load(*device);
    ASSERT_TRUE(parameters.ok()) << parameters.status();
    auto plain = Prove(*device, *parameters, proving.Witness(Layout::kPlain));
    auto narrow = Prove(*device, *parameters, proving.Witness(Layout::kNarrow));
    ASSERT_TRUE(plain.ok() && narrow.ok());
    EXPECT_TRUE(plain->h == narrow->h && plain->l == narrow->l && plain->a == narrow->a);
    EXPECT_TRUE(plain->b_g1 == narrow->b_g1 && plain->b_g2 == narrow->b_g2);
    EXPECT_TRUE(proving.Verifies((*parameters)->verifying_key(), *narrow)) << size;
  }
}

TEST_P(CpuDeviceTest, AWrongWitnessGivesAProofThatDoesNotVerify) {
  Proving proving(MixedCircuit({.wrong = true}));
  auto device = MakeDevice(proving);
  auto parameters = proving.Load(*device).value();
  EXPECT_FALSE(proving.Verifies(parameters->verifying_key(), Prove(*device, parameters, proving.Witness()).value()));
}

TEST_P(CpuDeviceTest, LeaseIsHomeWhenStartReturns) {
  Proving proving(MixedCircuit({}));
  auto device = MakeDevice(proving);
  auto parameters = proving.Load(*device).value();
  memory::Budget budget(uint64_t{1} << 30);
  memory::PinnedPool leases(device->host_allocator(), budget);
  auto lease = leases.TryAcquire(r1cs::LeaseLayout::For(*proving.shape(), Layout::kNarrow).bytes).value();
  auto pending =
      device->Start(parameters, proving.circuit().MakeWitness(proving.shape(), Layout::kNarrow, std::move(lease)), {});
  ASSERT_TRUE(pending.ok());
  EXPECT_EQ(leases.Snapshot().used_bytes, 0u);
  EXPECT_TRUE((*pending)->Finish().ok());
}

TEST_P(CpuDeviceTest, TimelineAndProgressAreComplete) {
  Proving proving(MixedCircuit({}));
  auto device = MakeDevice(proving);
  auto parameters = proving.Load(*device).value();
  uint64_t last = 0, all = 1;
  auto pending = device
                     ->Start(parameters, proving.Witness(),
                             {.progress =
                                  [&](uint64_t done, uint64_t total) {
                                    EXPECT_GE(done, last);
                                    last = done, all = total;
                                  }})
                     .value();
  ASSERT_TRUE(pending->Finish().ok());
  EXPECT_EQ(last, all);
  std::vector<std::string_view> stages;
  for (const TimelineEvent& event : pending->timeline()) {
    stages.push_back(event.stage);
    EXPECT_LE(event.begin, event.end);
  }
  EXPECT_THAT(stages, testing::UnorderedElementsAre(stage::kLeaseWait, stage::kTransforms, stage::kMsmH, stage::kMsmL,
                                                    stage::kMsmA, stage::kMsmBG1, stage::kMsmBG2));
}

/// Large enough for sums of many steps; made once.
Proving& Large() {
  static Proving large(MixedCircuit({.size = 6000}));
  return large;
}

/// Units of the sum over h, which comes last, of all units; as the device counts them.
double ShareOfH(const r1cs::Shape& shape) {
  const auto counts = groth16::SectionCounts::Of(shape);
  const double wide = static_cast<double>(shape.wide_aux_count() + shape.counts.inputs);
  const auto h = static_cast<double>(counts[groth16::Query::kH]), b = static_cast<double>(counts[groth16::Query::kBG1]);
  const double l = static_cast<double>(counts[groth16::Query::kL]), a = static_cast<double>(counts[groth16::Query::kA]);
  return 16 * h / (l / 2 + a / 2 + 24 * wide + 4 * (b / 2 + 12 * std::min(wide, b)) + 24 * h);
}

TEST_P(CpuDeviceTest, ProgressMovesWithinTheSums) {
  Proving& proving = Large();
  auto device = MakeDevice(proving);
  auto parameters = proving.Load(*device).value();
  const double before_h = 1 - ShareOfH(*proving.shape());
  unsigned within_h = 0, in_all = 0;
  double last = 0;
  StartOptions options{.progress = [&](uint64_t done, uint64_t total) {
    const double at = static_cast<double>(done) / static_cast<double>(total);
    EXPECT_GE(at, last);
    last = at;
    ++in_all;
    within_h += at > before_h + 0.01 && at < 0.99;
  }};
  ASSERT_TRUE(Prove(*device, parameters, proving.Witness(), options).ok());
  EXPECT_EQ(last, 1);
  EXPECT_GE(within_h, 5u);
  EXPECT_LT(in_all, 600u) << "often enough is enough";
}

TEST_P(CpuDeviceTest, AStopInTheMiddleOfASumIsHeard) {
  Proving& proving = Large();
  auto device = MakeDevice(proving);
  auto parameters = proving.Load(*device).value();
  const double before_h = 1 - ShareOfH(*proving.shape());
  std::stop_source stop;
  double last = 0;
  StartOptions options{.stop = stop.get_token(), .progress = [&](uint64_t done, uint64_t total) {
                         last = static_cast<double>(done) / static_cast<double>(total);
                         if (last > before_h + 0.05) stop.request_stop();
                       }};
  EXPECT_TRUE(absl::IsCancelled(Prove(*device, parameters, proving.Witness(), options).status()));
  EXPECT_GT(last, before_h);
  EXPECT_LT(last, 0.9);
  // The device goes on.
  auto next = Prove(*device, parameters, proving.Witness());
  ASSERT_TRUE(next.ok());
  EXPECT_TRUE(proving.Verifies(parameters->verifying_key(), *next));
}

TEST_P(CpuDeviceTest, SeveralWorkersAtOnce) {
  Proving proving(MixedCircuit({.size = 100}));
  auto device = MakeDevice(proving);
  auto parameters = proving.Load(*device).value();
  std::vector<StatusOr<groth16::MsmResults>> results(4, absl::UnknownError(""));
  {
    std::vector<std::jthread> workers;
    for (unsigned w = 0; w < 4; ++w) {
      workers.emplace_back([&, w] {
        results[w] =
            Prove(*device, parameters, proving.Witness(w % 2 ? Layout::kPlain : Layout::kNarrow), {.worker = w});
      });
    }
  }
  for (const auto& result : results) {
    ASSERT_TRUE(result.ok());
    EXPECT_TRUE(result->h == results[0]->h && result->b_g2 == results[0]->b_g2);
  }
}

TEST_P(CpuDeviceTest, EveryFailingAllocationIsAnErrorAndTheNextProofVerifies) {
  Proving proving(MixedCircuit({}));
  testing_support::FaultyAllocator allocator;
  auto device = MakeDevice(proving, &allocator);
  size_t failing = 0;
  for (;; ++failing) {
    allocator.Fail(allocator.calls() + failing);
    auto parameters = proving.Load(*device);
    if (parameters.ok()) break;
    EXPECT_TRUE(absl::IsResourceExhausted(parameters.status())) << parameters.status();
    EXPECT_EQ(allocator.bytes_out(), 0u);
  }
  EXPECT_EQ(failing, groth16::kQueries);
  allocator.FailNever();
  auto parameters = proving.Load(*device).value();
  const size_t loaded = allocator.bytes_out();
  for (failing = 0;; ++failing) {
    allocator.Fail(allocator.calls() + failing);
    auto results = Prove(*device, parameters, proving.Witness());
    EXPECT_EQ(allocator.bytes_out(), loaded);
    if (results.ok()) break;
    EXPECT_TRUE(absl::IsResourceExhausted(results.status())) << results.status();
    allocator.FailNever();
    auto next = Prove(*device, parameters, proving.Witness());
    ASSERT_TRUE(next.ok());
    EXPECT_TRUE(proving.Verifies(parameters->verifying_key(), *next));
  }
  EXPECT_GE(failing, 5u);
  EXPECT_TRUE(device->health().ok());
}

TEST_P(CpuDeviceTest, StopIsHeardAtEveryStage) {
  Proving proving(MixedCircuit({}));
  auto device = MakeDevice(proving);
  auto parameters = proving.Load(*device).value();
  for (int stages = 0; stages < 6; ++stages) {
    std::stop_source stop;
    int seen = 0;
    StartOptions options{.stop = stop.get_token()};
    options.progress = [&](uint64_t, uint64_t) {
      if (seen++ == stages) stop.request_stop();
    };
    EXPECT_TRUE(absl::IsCancelled(Prove(*device, parameters, proving.Witness(), options).status())) << stages;
  }
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(device->Load(proving.Open(), proving.shape(), {.stop = stop.get_token()}).status()));
}

TEST_P(CpuDeviceTest, ForeignParametersAndWitnessesAreRefused) {
  class Foreign final : public ResidentParameters {
   public:
    const groth16::VerifyingKey& verifying_key() const override { return key_; }
    const std::shared_ptr<const r1cs::Shape>& shape() const override { return shape_; }
    const Plan& plan() const override { return plan_; }

   private:
    groth16::VerifyingKey key_;
    std::shared_ptr<const r1cs::Shape> shape_;
    Plan plan_;
  };
  Proving proving(MixedCircuit({})), other(MixedCircuit({.size = 50}));
  auto device = MakeDevice(proving);
  auto parameters = proving.Load(*device).value();
  EXPECT_TRUE(absl::IsFailedPrecondition(device->Start(std::make_shared<Foreign>(), proving.Witness(), {}).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(device->Start(parameters, other.Witness(), {}).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(device->Load(proving.Open(), other.shape(), {}).status()));
}

TEST_P(CpuDeviceTest, PlanCountsAndRefusesInWords) {
  Proving proving(MixedCircuit({}));
  auto device = MakeDevice(proving);
  auto plan = device->MakePlan(*proving.shape(), {});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->placement, Placement::kHost);
  const uint64_t key_bytes = proving.Open()->verifying_key().ToBytes().size();
  EXPECT_EQ(plan->parameter_host_bytes, proving.Open()->file().size() - key_bytes - 5 * 4);
  Status refused = device->MakePlan(*proving.shape(), {.memory_cap = plan->parameter_host_bytes}).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr(StrCat(plan->parameter_host_bytes)));
  EXPECT_TRUE(
      absl::IsResourceExhausted(device->Load(proving.Open(), proving.shape(), {.plan = {.memory_cap = 1}}).status()));
  EXPECT_THAT(std::string(device->name()), HasSubstr(std::string(ArithmeticName(GetParam()))));
  EXPECT_EQ(device->ordinal(), -1);
  EXPECT_GT(device->memory().total, 0u);
}

INSTANTIATE_TEST_SUITE_P(Arithmetics, CpuDeviceTest,
                         testing::Values(Arithmetic::kScalar, Arithmetic::kFma, Arithmetic::kIfma),
                         [](const auto& info) { return std::string(ArithmeticName(info.param)); });

}  // namespace
}  // namespace cuzk::prover
