#pragma once
// How a partition's two parts divide a workspace of given size: the sizes that make sums fast.

#include <optional>

#include "gpu/prover/placement.h"
#include "gpu/prover/workspace.h"

namespace cuzk::gpu {

/// Room for the odd rounding of pieces of the workspace.
inline constexpr uint64_t kWorkspaceSlack = 1 << 20;
/// A query's inputs have no bits: a piece of points has them and at least a word of variables.
inline constexpr uint64_t kVariablesOfWord = 64;

/// What sums take, and their estimated time in products of the base field.
struct SumOffer {
  uint64_t bytes = 0;
  double products = 0;
};
struct Division {
  CircuitPlan plan;
  double products = 0;  ///< of all sums
};

/// One circuit on one card. Everything outlives it.
class Divider {
 public:
  Divider(const CircuitSizes& sizes, const prover::CardLimits& card) : s_(sizes), card_(card) {}

  /// The best way to compute with `memory` of workspace and slots for `slot_points` streamed points; nothing if it is
  /// too little. `base` says what is resident and where witnesses are.
  std::optional<Division> Divide(const CircuitPlan& base, uint64_t memory, uint64_t slot_points) const;
  /// What the sums over variables take beside the rest; 0 if `memory` is too little for it.
  uint64_t SideBytes(const CircuitPlan& plan, uint64_t memory) const;

 private:
  uint64_t Narrowed(const CircuitPlan& plan) const {
    return plan.whole_witness && s_.plain ? Workspace::Align(s_.AssignmentBytes(true)) : 0;
  }
  std::optional<SumOffer> SumOfH(const CircuitPlan& plan, uint64_t memory, uint64_t terms) const;
  std::optional<SumOffer> SumsOfSlab(const CircuitPlan& plan, uint64_t memory, uint64_t values) const;
  std::optional<SumOffer> ChooseH(CircuitPlan& plan, uint64_t memory) const;
  std::optional<SumOffer> ChooseSlab(CircuitPlan& plan, uint64_t memory) const;
  uint64_t SlabFixedBytes(const CircuitPlan& plan, uint64_t values) const;

  const CircuitSizes& s_;
  const prover::CardLimits& card_;
};

}  // namespace cuzk::gpu
