#pragma once
// One Poseidon permutation with every intermediate value shown to a trace. The hash takes an empty trace, the witness
// one that writes rows: both are this one computation.

#include <array>
#include <span>

#include "core/circuit/poseidon/poseidon.h"

namespace cuzk::circuit {

/// The widest state: arity 36.
inline constexpr uint32_t kMaxPoseidonWidth = 37;

/// A trace has
///   Ensure(l)                          the input of an S-box after round 0, and the result
///   Power(x, x2, x4, x5, out)          an S-box: x^2, x^4, x^5 and x^5 + key
/// in the order of the circuit's rows.
struct NoTrace {
  void Ensure(const Fr&) {}
  void Power(const Fr&, const Fr&, const Fr&, const Fr&, const Fr&) {}
};

namespace internal {

/// Sum of a[i] * b[i].
Fr Dot(const Fr* a, const Fr* b, uint32_t n);

template <class Trace>
Fr SBox(const Fr& x, const Fr* key, Trace& trace) {
  const Fr x2 = x.Square();
  const Fr x4 = x2.Square();
  const Fr x5 = x4 * x;
  const Fr out = key != nullptr ? x5 + *key : x5;
  trace.Power(x, x2, x4, x5, out);
  return out;
}

/// state = state * matrix, given by the matrix's columns, row by row.
inline void Dense(const std::vector<Fr>& columns, uint32_t t, Fr* state) {
  std::array<Fr, kMaxPoseidonWidth> old;
  for (uint32_t i = 0; i < t; ++i) old[i] = state[i];
  for (uint32_t j = 0; j < t; ++j) state[j] = Dot(old.data(), &columns[size_t{j} * t], t);
}

}  // namespace internal

/// The digest (state 1 after the last layer) of `preimage`, whose size is the constants' arity.
template <class Trace>
Fr PoseidonPermutation(const PoseidonConstants& constants, std::span<const Fr> preimage, const Fr& tag, Trace& trace) {
  const uint32_t t = constants.width, half = constants.full_rounds / 2;
  const Fr* key = constants.keys.data();
  std::array<Fr, kMaxPoseidonWidth> state;
  state[0] = tag + key[0];
  for (uint32_t i = 1; i < t; ++i) state[i] = preimage[i - 1] + key[i];
  key += t;
  NoTrace folded;  // the tag's S-box is a constant of the circuit
  for (uint32_t round = 0; round < half; ++round) {
    for (uint32_t i = 0; i < t; ++i) {
      if (round > 0) trace.Ensure(state[i]);
      state[i] =
          round == 0 && i == 0 ? internal::SBox(state[i], key + i, folded) : internal::SBox(state[i], key + i, trace);
    }
    key += t;
    internal::Dense(round + 1 < half ? constants.mds : constants.pre_sparse_columns, t, state.data());
  }
  for (uint32_t k = 0; k < constants.partial_rounds; ++k) {
    trace.Ensure(state[0]);
    const Fr s0 = internal::SBox(state[0], key++, trace);
    const Fr* v = &constants.v_rest[size_t{k} * (t - 1)];
    state[0] = s0;
    state[0] = internal::Dot(state.data(), &constants.w_hat[size_t{k} * t], t);
    for (uint32_t j = 1; j < t; ++j) state[j] += v[j - 1] * s0;
  }
  for (uint32_t round = 0; round < half; ++round) {
    const bool keyed = round + 1 < half;
    for (uint32_t i = 0; i < t; ++i) {
      trace.Ensure(state[i]);
      state[i] = internal::SBox(state[i], keyed ? key + i : nullptr, trace);
    }
    if (keyed) key += t;
    // Only state 1 of the last layer is wanted.
    if (keyed) internal::Dense(constants.mds, t, state.data());
  }
  const Fr digest = internal::Dot(state.data(), &constants.mds[t], t);
  trace.Ensure(digest);
  return digest;
}

}  // namespace cuzk::circuit
