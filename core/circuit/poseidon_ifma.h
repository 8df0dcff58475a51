#pragma once
// Eight Poseidon permutations at a time with AVX-512 IFMA; internal to poseidon_many.cc.

#include <cstddef>
#include <cstdint>

#include "core/algebra/fr.h"

namespace cuzk::circuit {

struct PoseidonSBoxValues;

/// x 2^260 mod r in five limbs of 52 bits.
struct PoseidonLaneConstant {
  uint64_t limb[5];
};

/// PoseidonConstants in that form; the arrays have the shapes that they have there, matrices column by column.
struct PoseidonLaneTable {
  uint32_t width, half_rounds, partial_rounds;
  const PoseidonLaneConstant *keys, *mds, *pre_sparse, *w_hat, *v_rest;
};

/// Of the eight preimages at preimages[0], preimages[width - 1], …: the digests, and where `values` is given the shown
/// S-boxes of each, `boxes` to a permutation. May be called only where IsSupported(Arithmetic::kIfma).
void IfmaPoseidonEight(const PoseidonLaneTable& table, const PoseidonLaneConstant& tag, const algebra::Fr* preimages,
                       algebra::Fr* digests, PoseidonSBoxValues* values, size_t boxes);

}  // namespace cuzk::circuit
