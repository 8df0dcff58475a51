#pragma once
// The ways in which a circuit can be proved on a card, each with a memory cap that leads to it.

#include <string>
#include <vector>

#include "core/base/text.h"
#include "gpu/prover/cuda_device.h"

namespace cuzk::gpu::testing {

struct PlacementCase {
  std::string name;
  uint64_t cap = 0;  ///< PlanOptions::memory_cap
  unsigned workers = 2;
  CircuitPlan plan;
};

inline std::string PlacementCaseName(const CircuitPlan& plan) {
  return StrCat(plan.is_resident(groth16::Query::kL)   ? "resident"
                : plan.is_resident(groth16::Query::kH) ? "h resident"
                                                       : "streamed",
                plan.whole_witness  ? ""
                : plan.keeps_values ? ", in pieces, values kept"
                                    : ", in pieces");
}

/// One of each name, with the largest cap of those tried; from what the card has down to what is refused.
inline std::vector<PlacementCase> PlacementCases(const CudaDevice& card, const r1cs::Shape& shape, r1cs::Layout layout,
                                                 unsigned workers) {
  std::vector<PlacementCase> cases;
  uint64_t points = 0;
  const groth16::SectionCounts counts = groth16::SectionCounts::Of(shape);
  for (auto q : groth16::kAllQueries) points += counts[q] * groth16::PointBytes(q);
  for (uint64_t cap = 16 * points + (uint64_t{256} << 20); cap >= 1 << 20; cap = cap / 48 * 47) {
    auto plan = card.PlanInDetail(shape, {.workers = workers, .memory_cap = cap, .layout = layout});
    if (!plan.ok()) break;
    const std::string name = PlacementCaseName(*plan);
    bool known = false;
    for (const PlacementCase& c : cases) known |= c.name == name;
    if (!known) cases.push_back({name, cap, workers, *std::move(plan)});
  }
  return cases;
}

}  // namespace cuzk::gpu::testing
