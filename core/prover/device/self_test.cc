#include "core/prover/device/self_test.h"

#include <array>
#include <string>
#include <utility>

#include "core/algebra/curve/curve_points.h"
#include "core/algebra/msm/fixed_base.h"
#include "core/circuit/circuit.h"
#include "core/circuit/poseidon/poseidon.h"
#include "core/circuit/row_stretches.h"
#include "core/groth16/verifier.h"

namespace cuzk::prover {
namespace {

using algebra::Fr;

/// What vanishes and what carries, every bit alone, and numbers that look random; the same at each start.
std::vector<Fr> Scalars() {
  constexpr int kBits = 255, kMixed = 64;
  std::vector<Fr> scalars = {Fr::Zero(), -Fr::One()};
  Fr power = Fr::One(), mixed = Fr::FromU64(3);
  for (int i = 0; i < kBits; ++i, power = power + power) scalars.push_back(power);
  for (int i = 0; i < kMixed; ++i, mixed = mixed * mixed + Fr::One()) scalars.push_back(mixed);
  return scalars;
}

template <class F>
Status Compare(groth16::BaseMultiplier& multiplier, std::string_view group, const algebra::AffinePoint<F>& generator,
               ThreadPool& pool) {
  const std::vector<Fr> scalars = Scalars();
  std::vector<algebra::AffinePoint<F>> right(scalars.size()), computed(scalars.size());
  algebra::FixedBase<F>(generator, scalars.size(), pool).Multiply(scalars, right, pool);
  CUZK_RETURN_IF_ERROR(multiplier.Multiply(scalars, computed));
  for (size_t i = 0; i < scalars.size(); ++i) {
    if (computed[i] == right[i]) continue;
    return absl::DataLossError(StrCat("a point of ", group, " is computed wrong (number ", i, " of the self-test)"));
  }
  return absl::OkStatus();
}

/// Sectors of eight leaves each, all of them different.
circuit::PostInputs MakeInputs(const circuit::PostSpec& spec) {
  circuit::PostInputs inputs;
  Fr value = Fr::FromU64(7);
  auto next = [&value] { return value = value * value + Fr::One(); };
  for (uint32_t s = 0; s < spec.sectors; ++s) {
    std::vector<Fr> leaves(spec.replica_tree.leaves);
    for (Fr& leaf : leaves) leaf = next();
    circuit::PostSector sector{{}, next(), circuit::PoseidonHash(leaves), {}, {s, s, 0}};
    sector.comm_r = circuit::PoseidonHash(std::array<Fr, 2>{sector.comm_c, sector.comm_r_last});
    for (uint64_t c = 0; c < spec.challenges; ++c) {
      const uint64_t index = c % leaves.size();
      circuit::PathInputs path{.siblings = leaves, .leaf_index = index};
      path.siblings.erase(path.siblings.begin() + static_cast<std::ptrdiff_t>(index));
      sector.challenges.push_back({leaves[index], std::move(path)});
    }
    inputs.sectors.push_back(std::move(sector));
  }
  return inputs;
}

StatusOr<groth16::SectionScalars> MakeScalars(const circuit::CircuitSpec& spec, const r1cs::Shape& shape,
                                              memory::HostAllocator& allocator, ThreadPool& pool) {
  groth16::GeneratorInput input{.shape = &shape, .waste = groth16::ToxicWaste::Random()};
  input.stretches = [&](const r1cs::OpenSink& open, ThreadPool& threads) {
    return circuit::StreamStretches(spec, shape, open, threads);
  };
  return groth16::SectionScalars::Make(input, allocator, pool);
}

Status TestProof(Device& device, const ParameterMaker& make, const circuit::PostSpec& post, ThreadPool& pool) {
  const circuit::CircuitSpec spec(post);
  CUZK_ASSIGN_OR_RETURN(const std::shared_ptr<const r1cs::Shape> shape, circuit::MakeShape(spec));
  memory::AlignedAllocator system;
  CUZK_ASSIGN_OR_RETURN(const groth16::SectionScalars scalars, MakeScalars(spec, *shape, system, pool));
  CUZK_ASSIGN_OR_RETURN(auto parameters, make(scalars, shape));
  constexpr r1cs::Layout kLayout = r1cs::Layout::kNarrow;
  CUZK_ASSIGN_OR_RETURN(memory::Lease lease, memory::Lease::Standalone(device.host_allocator(),
                                                                       r1cs::LeaseLayout::For(*shape, kLayout).bytes));
  CUZK_ASSIGN_OR_RETURN(r1cs::Witness witness,
                        circuit::WriteWitness(spec, MakeInputs(post), {shape, kLayout, std::move(lease)}, pool));
  const std::vector<Fr> inputs(witness.inputs().begin() + 1, witness.inputs().end());
  CUZK_ASSIGN_OR_RETURN(auto pending, device.Start(std::move(parameters), std::move(witness), {}));
  CUZK_ASSIGN_OR_RETURN(const groth16::MsmResults results, pending->Finish());
  CUZK_ASSIGN_OR_RETURN(const groth16::Proof proof,
                        groth16::Assemble(scalars.key(), results, groth16::Blinding::Random()));
  CUZK_ASSIGN_OR_RETURN(const bool valid, groth16::Verifier(scalars.key()).Verify({proof, inputs}, pool));
  if (valid) return absl::OkStatus();
  return absl::DataLossError(StrCat("the proof of a circuit of ", shape->counts.rows_with_inputs(), " rows is wrong"));
}

}  // namespace

std::vector<circuit::PostSpec> SelfTestCircuits() {
  constexpr circuit::TreeShape kEightLeaves{8, 8, 0, 0};
  return {{kEightLeaves, 1, 1}, {kEightLeaves, 64, 64}};
}

Status TestProofs(Device& device, const ParameterMaker& make, const std::vector<circuit::PostSpec>& circuits,
                  ThreadPool& pool) {
  for (const circuit::PostSpec& spec : circuits) CUZK_RETURN_IF_ERROR(TestProof(device, make, spec, pool));
  return absl::OkStatus();
}

Status TestMultiplier(groth16::BaseMultiplier& multiplier, ThreadPool& pool) {
  CUZK_RETURN_IF_ERROR(Compare(multiplier, "G1", algebra::G1Generator(), pool));
  return Compare(multiplier, "G2", algebra::G2Generator(), pool);
}

}  // namespace cuzk::prover
