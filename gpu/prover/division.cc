#include "gpu/prover/division.h"

#include <algorithm>
#include <bit>

#include "gpu/msm/msm.h"
#include "gpu/prover/workspace.h"

namespace cuzk::gpu {

using algebra::Fp;
using algebra::Fp2;
using algebra::Fr;
using groth16::Query;

namespace {

/// Of each slot of rows: pieces are copied at the bus's full rate.
constexpr uint64_t kRowSlot = uint64_t{32} << 20;

template <class F>
std::optional<SumOffer> OfferFor(const prover::CardLimits& card, uint64_t terms, uint64_t memory) {
  if (terms == 0) return SumOffer{};
  StatusOr<MsmPlan> plan = PlanMsm<F>(card, static_cast<uint32_t>(terms), memory);
  if (!plan.ok()) return std::nullopt;
  // A product in G2 is worth three.
  const double weight = std::is_same_v<F, Fp> ? 1 : 3;
  return SumOffer{plan->bytes, weight * EstimateProducts(*plan)};
}

}  // namespace

/// `memory`: beside one vector. Where the sum reads all scalars at once, that vector takes what it makes of them, and
/// the scalars' own place is scratch.
std::optional<SumOffer> Divider::SumOfH(const CircuitPlan& plan, uint64_t memory, uint64_t terms) const {
  const uint64_t count = s_.counts[Query::kH];
  const uint64_t apart = plan.is_resident(Query::kH) && terms >= count ? MsmSplitBytes(count) : 0;
  std::optional<SumOffer> one = OfferFor<Fp>(card_, std::min(terms, count), memory + apart);
  if (!one) return one;
  one->products *= static_cast<double>((count + terms - 1) / terms);
  one->bytes -= std::min(one->bytes, apart);
  return one;
}

/// Beside the scratch of sums: see VariableSums::TakeMemory.
uint64_t Divider::SlabFixedBytes(const CircuitPlan& plan, uint64_t values) const {
  const uint64_t terms = std::max(std::min(values, s_.whole_aux) + s_.inputs, kVariablesOfWord);
  uint64_t bytes = terms * sizeof(Fr) + ListSumBytes<Fp2>() + kWorkspaceSlack;
  if (!plan.keeps_values) bytes += 2 * (std::min(values, s_.whole_aux) * sizeof(Fr));
  if (plan.is_resident(Query::kL)) return bytes + terms * sizeof(uint32_t) + (s_.boolean_aux() + 1) * sizeof(uint32_t);
  const uint64_t listed = std::min(s_.boolean_aux() + 1, plan.point_slot_bytes / sizeof(algebra::G1Affine));
  return bytes + listed * sizeof(uint32_t) + 2 * terms * sizeof(algebra::G2Affine);
}

std::optional<SumOffer> Divider::SumsOfSlab(const CircuitPlan& plan, uint64_t memory, uint64_t values) const {
  const uint64_t fixed = SlabFixedBytes(plan, values),
                 slabs = std::max<uint64_t>((s_.whole_aux + values - 1) / values, 1);
  if (fixed >= memory) return std::nullopt;
  const uint64_t terms = std::max<uint64_t>(std::min(values, s_.whole_aux) + s_.inputs, 1);
  const auto g1 = OfferFor<Fp>(card_, terms, memory - fixed);
  const auto g2 = OfferFor<Fp2>(card_, std::min(terms, s_.counts[Query::kBG2]), memory - fixed);
  if (!g1 || !g2) return std::nullopt;
  const double products = (3 * g1->products + g2->products) * static_cast<double>(slabs);
  return SumOffer{fixed + std::max(g1->bytes, g2->bytes), products};
}

/// Sets how many terms of h are summed at a time; what the quotient takes of `memory`.
std::optional<SumOffer> Divider::ChooseH(CircuitPlan& plan, uint64_t memory) const {
  const uint64_t vector = Workspace::Align(s_.vector_bytes());
  const uint64_t transforms = 2 * vector + 2 * plan.row_slot_bytes;
  if (transforms > memory) return std::nullopt;
  // Streamed points come in beside the sum.
  const uint64_t slots = plan.is_resident(Query::kH) ? 0 : 2 * plan.point_slot_bytes;
  if (vector + slots >= memory) return std::nullopt;
  const uint64_t most = plan.is_resident(Query::kH) ? ~uint64_t{0} : plan.point_slot_bytes / sizeof(algebra::G1Affine);
  std::optional<SumOffer> best;
  for (uint64_t terms = uint64_t{1} << s_.log2_domain; terms >= 1 << 10 || terms == uint64_t{1} << s_.log2_domain;
       terms /= 2) {
    if (terms > most && terms > 1) continue;
    const auto offer = SumOfH(plan, memory - vector - slots, terms);
    if (offer && (!best || offer->products < best->products)) {
      best = offer;
      plan.h_terms = terms;
    }
  }
  if (!best) return std::nullopt;
  return SumOffer{std::max(transforms, vector + slots + best->bytes), best->products};
}

/// Sets how large slabs are; what the sums over variables take of `memory`.
std::optional<SumOffer> Divider::ChooseSlab(CircuitPlan& plan, uint64_t memory) const {
  const uint64_t slots = plan.is_resident(Query::kL) ? 0 : 2 * plan.point_slot_bytes;
  if (slots >= memory) return std::nullopt;
  std::optional<SumOffer> best;
  const uint64_t all = std::max(s_.whole_aux, kVariablesOfWord);
  for (uint64_t values = all; values >= kVariablesOfWord;
       values = values == all ? std::bit_floor(all - 1) : values / 2) {
    const auto offer = SumsOfSlab(plan, memory - slots, values);
    if (offer && (!best || offer->products < best->products)) {
      best = offer;
      plan.slab_values = values;
    }
    if (best && values < 1 << 20) break;
    if (values <= kVariablesOfWord) break;
  }
  if (!best) return std::nullopt;
  return SumOffer{slots + best->bytes, best->products};
}

std::optional<Division> Divider::Divide(const CircuitPlan& base, uint64_t memory, uint64_t slot_points) const {
  Division division{base};
  CircuitPlan& plan = division.plan;
  const uint64_t narrowed = Narrowed(plan);
  if (narrowed + kWorkspaceSlack >= memory) return std::nullopt;
  const uint64_t usable = memory - narrowed - kWorkspaceSlack;
  plan.row_slot_bytes =
      plan.whole_witness ? 0 : std::min(kRowSlot, Workspace::Align((sizeof(Fr) + 1) << s_.log2_domain));
  plan.point_slot_bytes = Workspace::Align(slot_points * sizeof(algebra::G1Affine));
  const auto quotient = ChooseH(plan, usable), variables = ChooseSlab(plan, usable);
  if (!quotient || !variables) return std::nullopt;
  plan.workspace_bytes = narrowed + std::max(quotient->bytes, variables->bytes) + kWorkspaceSlack;
  plan.least_workspace_bytes = plan.workspace_bytes;
  division.products = quotient->products + variables->products;
  return division;
}

uint64_t Divider::SideBytes(const CircuitPlan& plan, uint64_t memory) const {
  const auto offer = SumsOfSlab(plan, memory, plan.slab_values);
  return offer ? Workspace::Align(offer->bytes + kWorkspaceSlack) : 0;
}

}  // namespace cuzk::gpu
