#pragma once
// Poseidon over Fr as Filecoin uses it: x^5, 8 full rounds, constants from the Grain generator, Cauchy matrix, sparse
// partial rounds ("optimised static"). Source of the rules: circuits-poseidon of the specification; the constants are
// generated when first asked for, never stored in the source.

#include <cstdint>
#include <span>
#include <vector>

#include "core/algebra/field/fr.h"

namespace cuzk::circuit {

using algebra::Fr;

/// All constants of one arity; immutable. The width is t = arity + 1.
struct PoseidonConstants {
  uint32_t arity = 0;
  uint32_t width = 0;
  uint32_t full_rounds = 0;            ///< R_F = 8
  uint32_t partial_rounds = 0;         ///< R_P
  std::vector<Fr> round_constants;     ///< (R_F + R_P) * t, round by round
  std::vector<Fr> keys;                ///< compressed round constants, R_F * t + R_P, in the order of their use
  std::vector<Fr> mds;                 ///< t * t, row by row
  std::vector<Fr> pre_sparse;          ///< t * t, row by row; state is a row vector
  std::vector<Fr> pre_sparse_columns;  ///< the same, column by column
  std::vector<Fr> w_hat;               ///< R_P * t
  std::vector<Fr> v_rest;              ///< R_P * (t - 1)

  /// Made on the first call for an arity (2, 4, 8, 11, 16, 24 or 36), then shared. Thread-safe.
  static const PoseidonConstants& ForArity(uint32_t arity);
};

/// The domain tag of Merkle trees: 2^arity - 1.
Fr MerkleTag(uint32_t arity);
/// The tag of SnapDeals' randomness: 2^40.
Fr RandomnessTag();

/// Poseidon of `preimage` (its size is the arity) with the Merkle tag.
Fr PoseidonHash(std::span<const Fr> preimage);
/// The same with another tag.
Fr PoseidonHash(std::span<const Fr> preimage, const Fr& tag);
/// Arity 2, tag 2^40.
Fr PoseidonRandomness(const Fr& a, const Fr& b);

}  // namespace cuzk::circuit
