// The CUDA device behind prover::Device, against the CPU device: same parameters, same witness, same five sums.
#include <gmock/gmock.h>

#include <optional>
#include <set>
#include <thread>

#include "gpu/prover/cuda_device.h"
#include "tests/device/on_device.h"
#include "tests/device/placements.h"
#include "tests/unit/prover/proving.h"

namespace cuzk::gpu::testing {
namespace {

using prover::Placement;
using testing_support::MixedCircuit;
using testing_support::Proving;
using testing_support::ToyCircuit;

bool SameSums(const groth16::MsmResults& a, const groth16::MsmResults& b) {
  return a.h == b.h && a.l == b.l && a.a == b.a && a.b_g1 == b.b_g1 && a.b_g2 == b.b_g2;
}

class ProverOnDevice : public ::testing::Test {
 protected:
  std::unique_ptr<CudaDevice> Card(uint64_t cap = 0) {
    return Must(MakeCudaDevice({.pool = &pool_, .memory_cap = cap}));
  }
  std::unique_ptr<prover::Device> Cpu() { return prover::MakeCpuDevice({.pool = &pool_}); }
  static StatusOr<groth16::MsmResults> Prove(prover::Device& device,
                                             std::shared_ptr<const prover::ResidentParameters> parameters,
                                             r1cs::Witness witness, unsigned worker = 0) {
    CUZK_ASSIGN_OR_RETURN(auto pending, device.Start(std::move(parameters), std::move(witness), {.worker = worker}));
    return pending->Finish();
  }
  /// Loaded so that the case's plan is made.
  static StatusOr<std::shared_ptr<const prover::ResidentParameters>> LoadAs(CudaDevice& card, const Proving& proving,
                                                                            const PlacementCase& c,
                                                                            r1cs::Layout layout) {
    return card.Load(proving.Open(), proving.shape(),
                     {.plan = {.workers = c.workers, .memory_cap = c.cap, .layout = layout}});
  }
  ThreadPool pool_{4};
};

TEST_F(ProverOnDevice, SumsEqualTheCpuDevicesInBothLayouts) {
  auto cpu = Cpu();
  auto card = Card();
  for (uint32_t size : {1u, 2u, 40u, 700u, 3000u}) {
    Proving proving(MixedCircuit({.size = size, .seed = size}));
    auto on_cpu = Must(proving.Load(*cpu));
    auto on_card = Must(proving.Load(*card));
    EXPECT_EQ(on_card->plan().placement, Placement::kResident);
    auto expected = Must(Prove(*cpu, on_cpu, proving.Witness()));
    for (auto layout : {r1cs::Layout::kNarrow, r1cs::Layout::kPlain}) {
      auto got = Must(Prove(*card, on_card, proving.Witness(layout)));
      EXPECT_TRUE(SameSums(got, expected)) << size << " " << r1cs::LayoutName(layout);
      EXPECT_TRUE(got.h == expected.h) << "h";
      EXPECT_TRUE(got.l == expected.l) << "l";
      EXPECT_TRUE(got.a == expected.a) << "a";
      EXPECT_TRUE(got.b_g1 == expected.b_g1) << "b_g1";
      EXPECT_TRUE(got.b_g2 == expected.b_g2) << "b_g2";
      EXPECT_TRUE(proving.Verifies(on_card->verifying_key(), got));
    }
  }
}

TEST_F(ProverOnDevice, AWrongWitnessGivesSumsThatDoNotVerify) {
  auto card = Card();
  Proving proving(MixedCircuit({.size = 40, .wrong = true}));
  auto loaded = Must(proving.Load(*card));
  EXPECT_FALSE(proving.Verifies(loaded->verifying_key(), Must(Prove(*card, loaded, proving.Witness()))));
}

TEST_F(ProverOnDevice, SumsAreTheSameInEveryPlacement) {
  std::set<std::string> seen;
  for (uint32_t more_bits : {0u, 16u}) {
    Proving proving(MixedCircuit({.size = 6000, .seed = 5, .more_bits = more_bits}));
    auto cpu = Cpu();
    const auto expected = Must(Prove(*cpu, Must(proving.Load(*cpu)), proving.Witness()));
    for (auto planned : {r1cs::Layout::kNarrow, r1cs::Layout::kPlain}) {
      auto planner = Card();
      for (const PlacementCase& c : PlacementCases(*planner, *proving.shape(), planned, 3)) {
        SCOPED_TRACE(StrCat(more_bits, " more bits, ", r1cs::LayoutName(planned), " leases planned, ", c.name));
        seen.insert(c.name);
        auto card = Card();
        auto loaded = Must(LoadAs(*card, proving, c, planned));
        for (auto layout : {r1cs::Layout::kNarrow, r1cs::Layout::kPlain}) {
          EXPECT_TRUE(SameSums(Must(Prove(*card, loaded, proving.Witness(layout))), expected))
              << r1cs::LayoutName(layout);
        }
        // Three at once, twice, as far as there are places.
        std::vector<std::jthread> threads;
        for (unsigned worker = 0; worker < 3; ++worker) {
          threads.emplace_back([&, worker] {
            for (int i = 0; i < 2; ++i) {
              EXPECT_TRUE(SameSums(Must(Prove(*card, loaded, proving.Witness(), worker)), expected)) << worker;
            }
          });
        }
      }
      EXPECT_TRUE(absl::IsResourceExhausted(
          planner->MakePlan(*proving.shape(), {.memory_cap = 1 << 20, .layout = planned}).status()));
    }
  }
  EXPECT_THAT(seen, ::testing::IsSupersetOf({"resident", "h resident, in pieces", "h resident, in pieces, values kept",
                                             "streamed, in pieces", "streamed, in pieces, values kept"}));
}

TEST_F(ProverOnDevice, APlanIsNotRefusedForWhatItsOwnPartitionsHold) {
  Proving proving(MixedCircuit({.size = 6000, .seed = 5}));
  auto planner = Card();
  for (const PlacementCase& c : PlacementCases(*planner, *proving.shape(), r1cs::Layout::kNarrow, 2)) {
    SCOPED_TRACE(c.name);
    // The card has no more than the plan needs, and a share for the driver.
    auto card = Card(c.cap);
    std::optional<std::string> first;
    for (int round = 0; round < 3; ++round) {
      auto loaded = proving.Load(*card);
      ASSERT_TRUE(loaded.ok()) << round << ": " << loaded.status();
      if (!first) first = (*loaded)->plan().explanation;
      EXPECT_EQ((*loaded)->plan().explanation, *first) << round;
      for (unsigned worker : {0u, 1u, 2u}) {
        auto sums = Prove(*card, *loaded, proving.Witness(), worker);
        ASSERT_TRUE(sums.ok()) << round << ": " << sums.status();
      }
    }
  }
}

TEST_F(ProverOnDevice, PartitionsThatAreThereShareThePointsThatCrossTheBus) {
  Proving proving(MixedCircuit({.size = 6000, .seed = 5, .more_bits = 16}));
  auto planner = Card();
  for (const PlacementCase& c : PlacementCases(*planner, *proving.shape(), r1cs::Layout::kNarrow, 3)) {
    if (!c.plan.sweeps() || c.plan.plan.workers < 3) continue;
    SCOPED_TRACE(c.name);
    auto card = Card();
    auto loaded = Must(LoadAs(*card, proving, c, r1cs::Layout::kNarrow));
    // The first one is started and keeps the compute region until its Finish; by then the others have their places.
    const uint64_t before = card->copied_bytes();
    auto first = Must(card->Start(loaded, proving.Witness(), {.worker = 0}));
    std::vector<std::jthread> threads;
    for (unsigned worker : {1u, 2u}) {
      threads.emplace_back([&, worker] { Must(Prove(*card, loaded, proving.Witness(), worker)); });
    }
    while (card->compute_region_waiting() < 2) std::this_thread::yield();
    Must(first->Finish());
    threads.clear();
    const uint64_t copied = card->copied_bytes() - before, alone = 3 * c.plan.plan.partition_bus_bytes;
    EXPECT_LE(copied, alone + c.plan.plan.shared_bus_bytes);
    EXPECT_GE(copied, alone * 9 / 10 + c.plan.plan.shared_bus_bytes);  // leases end with some padding
    return;
  }
  FAIL() << "no placement in which three partitions are swept";
}

TEST_F(ProverOnDevice, PartitionsHaveRoomOnceTheirParametersAreLoaded) {
  Proving large(MixedCircuit({.size = 6000, .seed = 5})), small(MixedCircuit({.size = 700, .seed = 6}));
  int both = 0;
  for (uint64_t cap = uint64_t{1} << 30; cap >= 1 << 20; cap = cap * 15 / 16) {
    auto card = Card(cap);
    // What the first one's partitions will take is not taken when the second one is planned.
    auto first = large.Load(*card);
    auto second = first.ok() ? small.Load(*card) : first;
    if (!second.ok()) {
      EXPECT_TRUE(absl::IsResourceExhausted(second.status())) << second.status();
      continue;
    }
    ++both;
    CUZK_ASSERT_OK(Prove(*card, *second, small.Witness()).status());
    for (unsigned worker : {0u, 1u}) {
      auto sums = Prove(*card, *first, large.Witness(), worker);
      ASSERT_TRUE(sums.ok()) << "cap " << cap << ": " << sums.status();
      EXPECT_TRUE(large.Verifies((*first)->verifying_key(), *sums));
    }
  }
  EXPECT_GT(both, 0);
}

TEST_F(ProverOnDevice, EveryAllocationMayFailAndTheDeviceGoesOn) {
  for (uint32_t more_bits : {0u, 16u}) {
    Proving proving(MixedCircuit({.size = 700, .more_bits = more_bits}));
    auto cpu = Cpu();
    const auto expected = Must(Prove(*cpu, Must(proving.Load(*cpu)), proving.Witness()));
    auto planner = Card();
    for (const PlacementCase& c : PlacementCases(*planner, *proving.shape(), r1cs::Layout::kNarrow, 2)) {
      SCOPED_TRACE(c.name);
      int failures = 0;
      for (int n = 0; n < 200; ++n) {
        auto card = Card();
        card->device_memory().FailAfter(n);
        StatusOr<groth16::MsmResults> sums = absl::InternalError("not loaded");
        auto loaded = LoadAs(*card, proving, c, r1cs::Layout::kNarrow);
        if (loaded.ok()) {
          sums = Prove(*card, *loaded, proving.Witness());
        } else {
          sums = loaded.status();
        }
        if (card->device_memory().before_failure() >= 0) break;  // so many allocations are not made
        // One that a second try makes good is no failure.
        if (sums.ok()) {
          EXPECT_TRUE(SameSums(*sums, expected)) << n;
          continue;
        }
        ++failures;
        EXPECT_TRUE(absl::IsResourceExhausted(sums.status())) << sums.status();
        CUZK_ASSERT_OK(card->health());
        auto again = Must(LoadAs(*card, proving, c, r1cs::Layout::kNarrow));
        EXPECT_TRUE(SameSums(Must(Prove(*card, again, proving.Witness())), expected)) << n;
      }
      EXPECT_GT(failures, 10);
      EXPECT_LT(failures, 200);
    }
  }
}

TEST_F(ProverOnDevice, ALostDeviceStaysLost) {
  Proving proving(ToyCircuit());
  auto card = Card();
  auto loaded = Must(proving.Load(*card));
  EXPECT_FALSE(card->Observe(absl::UnavailableError("injected")).ok());
  EXPECT_TRUE(absl::IsUnavailable(card->health()));
  EXPECT_TRUE(absl::IsUnavailable(Prove(*card, loaded, proving.Witness()).status()));
  EXPECT_TRUE(absl::IsUnavailable(proving.Load(*card).status()));
}

TEST_F(ProverOnDevice, CancelledBeforeTheComputeRegion) {
  Proving proving(ToyCircuit());
  auto card = Card();
  auto loaded = Must(proving.Load(*card));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(card->Start(loaded, proving.Witness(), {.stop = stop.get_token()}).status()));
  EXPECT_TRUE(proving.Verifies(loaded->verifying_key(), Must(Prove(*card, loaded, proving.Witness()))));
}

TEST_F(ProverOnDevice, TwoWorkersTakeTurnsAndMemoryStaysFlat) {
  Proving proving(MixedCircuit({.size = 2000}));
  auto cpu = Cpu();
  auto expected = Must(Prove(*cpu, Must(proving.Load(*cpu)), proving.Witness()));
  auto card = Card();
  auto loaded = Must(proving.Load(*card));
  auto work = [&](unsigned worker, int times) {
    for (int i = 0; i < times; ++i) {
      auto layout = i % 2 == 0 ? r1cs::Layout::kNarrow : r1cs::Layout::kPlain;
      EXPECT_TRUE(SameSums(Must(Prove(*card, loaded, proving.Witness(layout), worker)), expected))
          << worker << " " << i;
    }
  };
  work(0, 2);
  work(1, 2);
  // Both hold a witness of either layout at a time.
  for (auto layout : {r1cs::Layout::kNarrow, r1cs::Layout::kPlain}) {
    auto first = Must(card->Start(loaded, proving.Witness(layout), {.worker = 0}));
    std::jthread second([&] { Must(Prove(*card, loaded, proving.Witness(layout), 1)); });
    while (card->compute_region_waiting() < 1) std::this_thread::yield();
    Must(first->Finish());
  }
  uint64_t before = card->device_memory().used();
  { std::jthread a(work, 0, 25), b(work, 1, 25); }
  EXPECT_EQ(card->device_memory().used(), before);
  auto pending = Must(card->Start(loaded, proving.Witness(), {}));
  Must(pending->Finish());
  std::vector<std::string_view> stages;
  for (const auto& event : pending->timeline()) {
    EXPECT_LE(event.begin, event.end);
    stages.push_back(event.stage);
  }
  EXPECT_EQ(stages.size(), 9u);
}

}  // namespace
}  // namespace cuzk::gpu::testing
