// The self-test that every card does before it gets work, on a card.
#include "core/prover/device/self_test.h"

#include "core/circuit/circuit.h"
#include "gpu/params/section_maker.h"
#include "gpu/prover/cuda_device.h"
#include "tests/device/on_device.h"

namespace cuzk::gpu::testing {
namespace {

TEST(SelfTestOnDevice, AGoodCardPasses) {
  ThreadPool pool(0);
  CUZK_ASSERT_OK(prover::TestMultiplier(*Must(MakeCardMultiplier({})), pool));
  auto card = Must(MakeCudaDevice({.pool = &pool}));
  auto make = [&](const groth16::SectionScalars& scalars, std::shared_ptr<const r1cs::Shape> shape) {
    return card->MakeParameters(scalars, std::move(shape), {});
  };
  for (const circuit::PostSpec& spec : prover::SelfTestCircuits()) {
    const auto begin = std::chrono::steady_clock::now();
    CUZK_ASSERT_OK(prover::TestProofs(*card, make, {spec}, pool));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    RecordProperty(spec.sectors == 1 ? "small_seconds" : "large_seconds", std::to_string(took.count()));
    std::printf("self-test of %u sectors with %u challenges: %.3f s\n", spec.sectors, spec.challenges, took.count());
  }
}

}  // namespace
}  // namespace cuzk::gpu::testing
