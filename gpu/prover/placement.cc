#include "gpu/prover/placement.h"

#include <algorithm>

#include "core/r1cs/layout.h"
#include "gpu/msm/msm.h"
#include "gpu/ntt/transform.h"
#include "gpu/prover/circuit_tables.h"

namespace cuzk::gpu {
namespace {

using groth16::Query;
using groth16::SectionCounts;

/// Scratch of the largest sum of `g1` and of `g2` terms within `memory`; the least error if it does not fit.
StatusOr<uint64_t> ScratchFor(uint64_t g1_terms, uint64_t g2_terms, uint64_t memory) {
  uint64_t bytes = ListSumBytes<algebra::Fp2>();
  if (g1_terms > 0) {
    CUZK_ASSIGN_OR_RETURN(MsmPlan plan, PlanMsm<algebra::Fp>(static_cast<uint32_t>(g1_terms), memory));
    bytes = std::max(bytes, plan.bytes);
  }
  if (g2_terms > 0) {
    CUZK_ASSIGN_OR_RETURN(MsmPlan plan, PlanMsm<algebra::Fp2>(static_cast<uint32_t>(g2_terms), memory));
    bytes = std::max(bytes, plan.bytes);
  }
  return bytes;
}

/// Sums of fewer whole scalars than this leave much of the card idle: they run beside others.
constexpr uint64_t kSideTerms = uint64_t{1} << 22;

/// Room for the odd rounding of pieces of the workspace.
constexpr uint64_t kSlack = 1 << 20;

/// What a plain witness takes on the card beside its lease: its aux made narrow.
uint64_t NarrowedBytes(const r1cs::Shape& shape, r1cs::Layout layout) {
  if (layout == r1cs::Layout::kNarrow) return 0;
  return (shape.counts.aux + 63) / 64 * sizeof(uint64_t) + shape.wide_aux_count() * sizeof(algebra::Fr);
}

/// What the sums over variables take if they run beside the rest; 0 if `memory` has no room for it.
uint64_t SideBytes(const CircuitPlan& plan, uint64_t wide, uint64_t g2_terms, uint64_t memory) {
  const uint64_t fixed = plan.list_elements * sizeof(uint32_t) + wide * sizeof(algebra::Fr) + kSlack;
  if (fixed >= memory) return 0;
  auto scratch = ScratchFor(std::max<uint64_t>(wide, 1), g2_terms, memory - fixed);
  return scratch.ok() ? fixed + *scratch : 0;
}

}  // namespace

StatusOr<CircuitPlan> PlanCircuit(const r1cs::Shape& shape, uint64_t available,
                                  const prover::DeviceClaims::Bytes& claimed, const prover::PlanOptions& options) {
  const unsigned workers = options.workers;
  const SectionCounts counts = SectionCounts::Of(shape);
  unsigned log2_domain = shape.counts.log2_domain();
  if (log2_domain > kMaxLog2Domain) {
    return absl::ResourceExhaustedError(
        StrCat("a domain of 2^", log2_domain, " is more than the 2^", kMaxLog2Domain, " of a GPU"));
  }
  uint64_t wide = shape.wide_aux_count() + shape.counts.inputs, points = 0;
  for (Query q : groth16::kAllQueries) points += counts[q] * groth16::PointBytes(q);
  CircuitPlan r;
  r.vector_elements = std::max(uint64_t{1} << log2_domain, wide);
  r.list_elements = shape.boolean_aux.count() + 1;
  uint64_t lease = r1cs::LeaseLayout::For(shape, options.layout).bytes;
  uint64_t tables = DomainTables::Bytes(log2_domain) + CircuitTables::Bytes(shape);
  uint64_t vectors = 2 * r.vector_elements * sizeof(algebra::Fr) + r.list_elements * sizeof(uint32_t) +
                     NarrowedBytes(shape, options.layout) + kSlack;
  const uint64_t witnesses = workers * std::max(lease, claimed.witness);
  const uint64_t fixed = tables + vectors + witnesses, beside = tables + claimed.workspace + witnesses;
  uint64_t g1_terms = std::max({counts[Query::kH], wide, uint64_t{1}});
  uint64_t g2_terms = std::max<uint64_t>(std::min<uint64_t>(wide, counts[Query::kBG2]), 1);
  prover::Plan& plan = r.plan;
  plan.workers = workers;
  plan.partition_device_bytes = lease;
  auto text = [](uint64_t bytes) { return StrCat((bytes + (1 << 20) - 1) >> 20, " MiB"); };

  if (std::max(fixed, beside) + points < available) {
    const uint64_t rest = available - fixed - points;
    auto scratch = ScratchFor(g1_terms, g2_terms, rest);
    if (scratch.ok()) {
      r.workspace_bytes = vectors + *scratch;
      if (wide < kSideTerms) r.side_bytes = SideBytes(r, wide, g2_terms, rest - *scratch);
      r.workspace_bytes += r.side_bytes;
      plan.placement = prover::Placement::kResident;
      plan.parameter_device_bytes = points + tables;
      plan.explanation = StrCat("points ", text(points), " in device memory, workspace ", text(r.workspace_bytes), ", ",
                                workers, " witnesses of ", text(lease));
      return r;
    }
  }
  for (uint64_t chunk = uint64_t{1} << 24; chunk >= 1 << 12 && beside < available; chunk /= 2) {
    uint64_t staging = 2 * chunk * sizeof(algebra::G2Affine);
    if (fixed + staging >= available) continue;
    auto scratch = ScratchFor(std::min(chunk, g1_terms), std::min(chunk, g2_terms), available - fixed - staging);
    if (!scratch.ok()) continue;
    r.resident = false;
    r.chunk_points = chunk;
    r.workspace_bytes = vectors + staging + *scratch;
    plan.placement = prover::Placement::kPinnedStreamed;
    plan.parameter_host_bytes = points;
    plan.parameter_device_bytes = tables;
    plan.explanation =
        StrCat("points ", text(points), " page-locked in host memory, streamed ", chunk, " at a time, workspace ",
               text(r.workspace_bytes), ", ", workers, " witnesses of ", text(lease));
    return r;
  }
  return absl::ResourceExhaustedError(
      StrCat("the circuit does not fit: even with its points in host memory it needs more than ",
             text(std::max(fixed, beside)), " of device memory, and there are ", text(available)));
}

}  // namespace cuzk::gpu
