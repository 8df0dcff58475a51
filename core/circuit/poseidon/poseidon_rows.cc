#include "core/circuit/poseidon/poseidon_rows.h"

#include <array>
#include <memory>
#include <mutex>

#include "core/base/check.h"

namespace cuzk::circuit {
namespace {

constexpr uint32_t kMaxArity = 37;

std::unique_ptr<const PoseidonRows> Make(uint32_t arity, const Fr& tag) {
  const PoseidonConstants& constants = PoseidonConstants::ForArity(arity);
  const uint32_t t = constants.width, partial = constants.partial_rounds;
  auto rows = std::make_unique<PoseidonRows>();
  rows->constants = &constants;
  const Fr sum = tag + constants.keys[0];
  rows->folded = sum.Square().Square() * sum + constants.keys[t];
  // State entries over the t + partial outputs.
  std::vector<std::vector<Fr>> state(t, std::vector<Fr>(t + partial));
  for (uint32_t j = 0; j < t; ++j) {
    for (uint32_t i = 0; i < t; ++i) state[j][i] = constants.pre_sparse[size_t{i} * t + j];
  }
  for (uint32_t k = 0; k < partial; ++k) {
    rows->partial_input.emplace_back(state[0].begin(), state[0].begin() + t + k);
    const Fr* w = &constants.w_hat[size_t{k} * t];
    const Fr* v = &constants.v_rest[size_t{k} * (t - 1)];
    std::vector<Fr> first(t + partial);
    first[t + k] = w[0];
    for (uint32_t i = 1; i < t; ++i) {
      for (uint32_t x = 0; x < t + k; ++x) first[x] += w[i] * state[i][x];
      state[i][t + k] = v[i - 1];
    }
    state[0] = std::move(first);
  }
  rows->after_partial = std::move(state);
  return rows;
}

}  // namespace

const PoseidonRows& PoseidonRows::MerkleTree(uint32_t arity) {
  struct Slot {
    std::once_flag once;
    std::unique_ptr<const PoseidonRows> rows;
  };
  CUZK_CHECK(arity < kMaxArity);
  static std::array<Slot, kMaxArity> slots;
  std::call_once(slots[arity].once, [&] { slots[arity].rows = Make(arity, MerkleTag(arity)); });
  return *slots[arity].rows;
}

const PoseidonRows& PoseidonRows::Randomness() {
  static const std::unique_ptr<const PoseidonRows> rows = Make(2, RandomnessTag());
  return *rows;
}

}  // namespace cuzk::circuit
