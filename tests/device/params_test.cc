// Parameters made on the card: the multiples against the host's, the recorded files byte for byte, and parameters left
// in device memory against the same ones from a file.
#include "core/algebra/msm/fixed_base.h"
#include "core/base/file.h"
#include "core/circuit/row_stretches.h"
#include "core/filecoin/partition.h"
#include "core/groth16/identity.h"
#include "gpu/params/section_maker.h"
#include "gpu/prover/cuda_device.h"
#include "tests/device/on_device.h"
#include "tests/fixtures.h"
#include "tests/unit/prover/proving.h"

namespace cuzk::gpu::testing {
namespace {

using algebra::Fr;
using testing_support::MixedCircuit;
using testing_support::ScratchDir;

class ParametersOnDevice : public ::testing::Test {
 protected:
  ThreadPool pool_{0};
};

template <class F>
void MultiplesEqualTheHosts(groth16::BaseMultiplier& card, const algebra::AffinePoint<F>& generator, ThreadPool& pool) {
  const algebra::FixedBase<F> host(generator, 1 << 16, pool);
  for (size_t n : {1u, 2u, 7u, 1000u, 65536u, 70001u, 600000u}) {
    std::vector<Fr> scalars = RandomScalars(n, n);
    for (size_t i = 0; i < n; i += 13) {
      const Fr edges[] = {Fr::Zero(), Fr::One(), -Fr::One(), Fr::FromU64(255), Fr::FromU64(256)};
      scalars[i] = edges[i / 13 % 5];
    }
    std::vector<algebra::AffinePoint<F>> got(n), expected(n);
    CUZK_ASSERT_OK(card.Multiply(scalars, got));
    host.Multiply(scalars, expected, pool);
    size_t wrong = 0;
    for (size_t i = 0; i < n; ++i) wrong += !(got[i] == expected[i]);
    EXPECT_EQ(wrong, 0u) << n;
  }
}

TEST_F(ParametersOnDevice, MultiplesEqualTheHosts) {
  auto card = Must(MakeCardMultiplier({}));
  MultiplesEqualTheHosts<algebra::Fp>(*card, algebra::G1Generator(), pool_);
  MultiplesEqualTheHosts<algebra::Fp2>(*card, algebra::G2Generator(), pool_);
}

TEST_F(ParametersOnDevice, FilesAreTheRecordedOnes) {
  auto card = Must(MakeCardMultiplier({}));
  ScratchDir folder;
  for (const char* kind : {"porep", "winning", "window", "snap"}) {
    SCOPED_TRACE(kind);
    const filecoin::Circuit* circuit = Must(filecoin::CircuitByNames(kind, "2KiB"));
    const circuit::CircuitSpec spec = filecoin::SpecOf(*circuit);
    auto shape = Must(circuit::MakeShape(spec));
    const auto recorded =
        testing_support::Vectors() / "groth16" / StrCat(KindInfo(circuit->kind).r1cs_name, "-2KiB.json");
    auto record = Must(groth16::DevelopmentRecord::FromJson(Must(ReadFile(recorded))));
    groth16::GeneratorInput input{.shape = shape.get(), .waste = *record.waste, .multiplier = card.get()};
    input.stretches = [&](const r1cs::OpenSink& open, ThreadPool& threads) {
      return circuit::StreamStretches(spec, *shape, open, threads);
    };
    auto made = Must(groth16::GenerateParameters(input, {.path = folder / circuit->params_file()}, pool_));
    EXPECT_EQ(made.sha256, record.sha256);
    std::filesystem::remove(made.params);
  }
}

TEST_F(ParametersOnDevice, LeftOnTheCardTheyProveLikeThoseOfAFile) {
  auto circuit = MixedCircuit({.size = 6000, .seed = 5});
  auto shape = circuit->MakeShape();
  ScratchDir folder;
  const auto waste = groth16::ToxicWaste::Random();
  auto made = Must(testing_support::Generate(*circuit, waste, folder / "x.params", pool_));
  auto card = Must(MakeCudaDevice({.pool = &pool_}));
  auto prove = [&](const std::shared_ptr<const prover::ResidentParameters>& parameters) {
    auto pending = Must(card->Start(parameters, circuit->MakeWitness(shape, r1cs::Layout::kNarrow), {}));
    return Must(pending->Finish());
  };
  auto file = Must(groth16::ParameterFile::Open(made.params, groth16::SectionCounts::Of(*shape)));
  auto loaded = Must(card->Load(file, shape, {}));
  const groth16::MsmResults expected = prove(loaded);
  memory::AlignedAllocator system;
  auto scalars = Must(groth16::SectionScalars::Make(testing_support::InputFor(*circuit, *shape, waste), system, pool_));
  EXPECT_EQ(scalars.key().ToBytes(), loaded->verifying_key().ToBytes());
  // With all of the card, and with the first cap that makes points be streamed.
  bool streamed = false;
  for (uint64_t cap = uint64_t{1} << 30; cap >= 1 << 20 && !streamed; cap = cap * 7 / 8) {
    const prover::LoadOptions options{.plan = {.memory_cap = cap}};
    auto plan = card->MakePlan(*shape, options.plan);
    if (!plan.ok()) break;
    streamed = plan->placement == prover::Placement::kPinnedStreamed;
    if (!streamed && cap != uint64_t{1} << 30) continue;
    const groth16::MsmResults got = prove(Must(card->MakeParameters(scalars, shape, options)));
    EXPECT_TRUE(got.h == expected.h) << cap;
    EXPECT_TRUE(got.l == expected.l) << cap;
    EXPECT_TRUE(got.a == expected.a) << cap;
    EXPECT_TRUE(got.b_g1 == expected.b_g1) << cap;
    EXPECT_TRUE(got.b_g2 == expected.b_g2) << cap;
  }
  EXPECT_TRUE(streamed);
}

TEST_F(ParametersOnDevice, PlansCountTheLayoutOfTheLeases) {
  auto circuit = MixedCircuit({.size = 6000, .seed = 5});
  auto shape = circuit->MakeShape();
  auto card = Must(MakeCudaDevice({.pool = &pool_}));
  auto narrow = Must(card->MakePlan(*shape, {})),
       plain = Must(card->MakePlan(*shape, {.layout = r1cs::Layout::kPlain}));
  EXPECT_EQ(narrow.partition_device_bytes, r1cs::LeaseLayout::For(*shape, r1cs::Layout::kNarrow).bytes);
  EXPECT_EQ(plain.partition_device_bytes, r1cs::LeaseLayout::For(*shape, r1cs::Layout::kPlain).bytes);
}

}  // namespace
}  // namespace cuzk::gpu::testing
