#pragma once
// Eight Poseidon permutations at a time with AVX-512 IFMA; internal to poseidon_many.cc.

#include <cstddef>
#include <cstdint>

#include "core/algebra/field/fr.h"

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

/// Eight preimages at preimages[0], preimages[width - 1], …, and where what is computed of them goes.
struct PoseidonEight {
  const algebra::Fr* preimages;
  algebra::Fr* digests;
  PoseidonSBoxValues* values;  ///< the shown S-boxes of each, or null
  size_t boxes;                ///< of one permutation
};

/// May be called only where IsSupported(Arithmetic::kIfma).
void IfmaPoseidonEight(const PoseidonLaneTable& table, const PoseidonLaneConstant& tag, const PoseidonEight& eight);

}  // namespace cuzk::circuit
