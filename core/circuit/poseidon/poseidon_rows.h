#pragma once
// The linear combinations of Poseidon's rows, worked out once per arity: the state entries that the circuit leaves
// unallocated, in terms of the outputs of S-boxes.

#include <cstdint>
#include <vector>

#include "core/circuit/poseidon/poseidon.h"

namespace cuzk::circuit {

/// For one arity and tag. A "combination" is a row of coefficients over the outputs that are its variables.
struct PoseidonRows {
  const PoseidonConstants* constants = nullptr;
  Fr folded;  ///< round 0, position 0: (tag + key)^5 + key, a constant
  /// Partial round k reads state 0 as a combination of the t outputs of the last full round before and the k outputs of
  /// the partial rounds before it.
  std::vector<std::vector<Fr>> partial_input;
  /// The first full round after the partial rounds reads state j as a combination of all t + R_P of them.
  std::vector<std::vector<Fr>> after_partial;

  static const PoseidonRows& MerkleTree(uint32_t arity);
  /// Arity 2, tag 2^40.
  static const PoseidonRows& Randomness();
};

}  // namespace cuzk::circuit
