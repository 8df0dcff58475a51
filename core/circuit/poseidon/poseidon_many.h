#pragma once
// Poseidon of many preimages at once: eight permutations side by side where the processor has AVX-512 IFMA.

#include <cstdint>
#include <span>
#include <vector>

#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/circuit/poseidon/poseidon.h"

namespace cuzk::circuit {

/// digests[i] is PoseidonHash of preimages[i * arity], … with `tag`. preimages holds arity * digests.size() elements.
/// Runs in the caller's thread; from 8 preimages on, groups of eight go through the lanes if `arithmetic` is kIfma.
void PoseidonHashMany(std::span<const Fr> preimages, uint32_t arity, const Fr& tag, std::span<Fr> digests,
                      algebra::Arithmetic arithmetic);

/// What an S-box computes: its input, the input's square and fourth power, and the fifth power plus the key.
struct PoseidonSBoxValues {
  Fr x, x2, x4, out;
};

/// The intermediate values of permutations, for witnesses: every S-box of a permutation in the order in which
/// PoseidonPermutation shows them to its trace (the tag's in round 0 is not shown), and the digest.
class PoseidonTraces {
 public:
  /// Computes them as PoseidonHashMany does.
  PoseidonTraces(std::span<const Fr> preimages, uint32_t arity, const Fr& tag, algebra::Arithmetic arithmetic);

  size_t size() const { return digests_.size(); }
  const Fr& digest(size_t i) const { return digests_[i]; }

  /// Shows permutation i to a trace (poseidon_permutation.h), as PoseidonPermutation would.
  template <class Trace>
  void Replay(size_t i, Trace& trace) const {
    const PoseidonSBoxValues* v = &values_[i * boxes_];
    for (uint32_t box = 0; box < boxes_; ++box, ++v) {
      const Fr* key = KeyOf(box);
      if (box >= constants_.arity) trace.Ensure(v->x);
      trace.Power(v->x, v->x2, v->x4, key != nullptr ? v->out - *key : v->out, v->out);
    }
    trace.Ensure(digests_[i]);
  }

 private:
  /// The key that shown S-box number `box` adds, or null in the last full round.
  const Fr* KeyOf(uint32_t box) const;

  const PoseidonConstants& constants_;
  uint32_t boxes_;  // shown S-boxes of one permutation
  std::vector<PoseidonSBoxValues> values_;
  std::vector<Fr> digests_;
};

/// S-boxes that one permutation shows to its trace.
uint32_t PoseidonShownBoxes(const PoseidonConstants& constants);

}  // namespace cuzk::circuit
