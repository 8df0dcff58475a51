#include "daemon/devices/fit.h"

#include <algorithm>

#ifdef CUZK_HAVE_CUDA
#include "gpu/prover/placement.h"
#endif

namespace cuzk::daemon {
namespace {

#ifdef CUZK_HAVE_CUDA
/// Beside memory and shared memory, plans look at how many blocks of rounds a multiprocessor holds, which every card of
/// the last generations has threads for.
prover::CardLimits LimitsOf(const FitCard& card) {
  constexpr uint32_t kReserve = 1 << 10;
  const auto shared = static_cast<uint32_t>(card.shared_bytes);
  return {.memory_bytes = card.memory_bytes,
          .multiprocessors = 128,
          .multiprocessor_threads = 1536,
          .shared_multiprocessor_bytes = shared,
          .shared_block_bytes = shared > kReserve ? shared - kReserve : 0,
          .shared_reserve_bytes = kReserve};
}
#endif

}  // namespace

std::string_view PlaceName(CircuitFit::Place place) {
  switch (place) {
    case CircuitFit::Place::kResident:
      return "resident";
    case CircuitFit::Place::kStreamed:
      return "streamed";
    case CircuitFit::Place::kNo:
      return "no";
  }
  return "unknown";
}

uint32_t PartitionsOf(const filecoin::Circuit& circuit) {
  uint32_t partitions = 1;
  for (const filecoin::RegisteredProof& proof : filecoin::RegisteredProofs()) {
    if (proof.circuit != &circuit || proof.feature == filecoin::PorepFeature::kNonInteractive) continue;
    partitions = std::max(partitions, proof.partitions());
  }
  return partitions;
}

StatusOr<CircuitFit> FitCircuit([[maybe_unused]] const r1cs::Shape& shape, [[maybe_unused]] uint32_t partitions,
                                [[maybe_unused]] const FitCard& card) {
#ifdef CUZK_HAVE_CUDA
  const prover::PlanOptions options{.workers = std::max(card.workers, 1u)};
  const uint64_t usable = card.memory_bytes - gpu::ReservedBytes(card.memory_bytes);
  const auto plan = gpu::PlanCircuit(gpu::CircuitSizes::Of(shape, options.layout), LimitsOf(card), usable, {}, options);
  CircuitFit fit;
  if (absl::IsResourceExhausted(plan.status())) {
    fit.explanation = std::string(plan.status().message());
    return fit;
  }
  if (!plan.ok()) return plan.status();
  const prover::Plan& p = plan->plan;
  fit.place = p.placement == prover::Placement::kResident ? CircuitFit::Place::kResident : CircuitFit::Place::kStreamed;
  fit.workers = p.workers;
  fit.device_bytes = p.parameter_device_bytes + plan->workspace_bytes + p.workers * plan->held_bytes;
  fit.host_bytes = p.parameter_host_bytes;
  fit.partition_bus_bytes = p.partition_bus_bytes + p.shared_bus_bytes;
  const uint32_t sweeps = (partitions + p.workers - 1) / p.workers;
  fit.proof_bus_bytes = partitions * p.partition_bus_bytes + sweeps * p.shared_bus_bytes;
  fit.explanation = p.explanation;
  return fit;
#else
  return absl::UnavailableError("this build has no CUDA back end");
#endif
}

}  // namespace cuzk::daemon
