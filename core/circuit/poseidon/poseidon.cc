#include "core/circuit/poseidon/poseidon.h"

#include <array>
#include <bit>
#include <map>
#include <memory>
#include <mutex>

#include "core/base/check.h"
#include "core/circuit/poseidon/matrix.h"
#include "core/circuit/poseidon/poseidon_permutation.h"

namespace cuzk::circuit {
namespace {

constexpr uint32_t kFullRounds = 8;
constexpr uint32_t kHalf = kFullRounds / 2;

uint32_t PartialRounds(uint32_t arity) {
  switch (arity) {
    case 2:
      return 55;
    case 4:
      return 56;
    case 8:
    case 11:
      return 57;
    case 16:
    case 24:
      return 59;
    case 36:
      return 60;
  }
  CUZK_CHECK(false && "Poseidon has no such arity");
  return 0;
}

/// The Grain shift register of 80 bits with its self-shrinking output.
class Grain {
 public:
  Grain(uint32_t width, uint32_t partial_rounds) {
    Fill(1, 2);     // prime field
    Fill(1, 4);     // S-box x^5
    Fill(255, 12);  // bits of the field
    Fill(width, 12);
    Fill(kFullRounds, 10);
    Fill(partial_rounds, 10);
    Fill((1u << 30) - 1, 30);
    for (int i = 0; i < 160; ++i) Step();
  }

  /// The next field element: 255 bits, most significant first, drawn again until below the modulus.
  Fr Element() {
    for (;;) {
      Fr::Canonical value{};
      for (unsigned bit = 255; bit-- > 0;) {
        if (Bit()) value[bit / 64] |= uint64_t{1} << (bit % 64);
      }
      if (Fr::IsCanonical(value)) return Fr::FromCanonical(value);
    }
  }

 private:
  void Fill(uint32_t value, unsigned bits) {
    while (bits-- > 0) state_[filled_++] = value >> bits & 1;
  }
  bool At(unsigned i) const { return state_[(head_ + i) % 80]; }
  bool Step() {
    const bool bit = At(62) ^ At(51) ^ At(38) ^ At(23) ^ At(13) ^ At(0);
    state_[head_] = bit;
    head_ = (head_ + 1) % 80;
    return bit;
  }
  /// Of each pair of steps whose first bit is 1, the second.
  bool Bit() {
    while (!Step()) Step();
    return Step();
  }

  std::array<bool, 80> state_{};
  unsigned filled_ = 0;
  unsigned head_ = 0;
};

/// M[i][j] = 1 / (i + j + t).
Matrix CauchyMatrix(uint32_t t) {
  Matrix m(t);
  for (uint32_t i = 0; i < t; ++i) {
    for (uint32_t j = 0; j < t; ++j) m.at(i, j) = Fr::FromU64(i + j + t).Inverse();
  }
  return m;
}

/// Sparse factors of the partial rounds, last first, and the dense layer that is left.
void Factor(const Matrix& mds, PoseidonConstants& constants) {
  const uint32_t t = constants.width;
  constants.w_hat.resize(size_t{constants.partial_rounds} * t);
  constants.v_rest.resize(size_t{constants.partial_rounds} * (t - 1));
  Matrix x = mds;
  for (uint32_t k = constants.partial_rounds; k-- > 0;) {
    std::vector<Fr> column(t - 1);
    for (uint32_t i = 1; i < t; ++i) column[i - 1] = x.at(i, 0);
    const std::vector<Fr> solved = x.Minor().Inverse().TimesColumn(column);
    Fr* w = &constants.w_hat[size_t{k} * t];
    Fr* v = &constants.v_rest[size_t{k} * (t - 1)];
    w[0] = x.at(0, 0);
    for (uint32_t i = 1; i < t; ++i) {
      w[i] = solved[i - 1];
      v[i - 1] = x.at(0, i);
    }
    Matrix rest(t);
    rest.at(0, 0) = Fr::One();
    for (uint32_t i = 1; i < t; ++i) {
      for (uint32_t j = 1; j < t; ++j) rest.at(i, j) = x.at(i, j);
    }
    x = mds.Times(rest);
  }
  constants.pre_sparse = x.elements();
  for (uint32_t j = 0; j < t; ++j) {
    for (uint32_t i = 0; i < t; ++i) constants.pre_sparse_columns.push_back(x.at(i, j));
  }
}

/// Moves the constants of each round behind its S-boxes, so that a partial round adds a single key.
void CompressKeys(const Matrix& mds, PoseidonConstants& constants) {
  const uint32_t t = constants.width, partial = constants.partial_rounds;
  const Matrix inverse = mds.Inverse();
  auto round = [&](uint32_t r) {
    std::vector<Fr> keys(t);
    for (uint32_t i = 0; i < t; ++i) keys[i] = constants.round_constants[size_t{r} * t + i];
    return keys;
  };
  auto append = [&](const std::vector<Fr>& keys) {
    constants.keys.insert(constants.keys.end(), keys.begin(), keys.end());
  };
  append(round(0));
  for (uint32_t r = 1; r < kHalf; ++r) append(inverse.TimesColumn(round(r)));
  std::vector<Fr> accumulated = round(kHalf + partial);
  std::vector<Fr> partial_keys(partial);
  for (uint32_t j = 1; j <= partial; ++j) {
    std::vector<Fr> moved = inverse.TimesColumn(accumulated);
    partial_keys[partial - j] = moved[0];
    moved[0] = Fr::Zero();
    accumulated = round(kHalf + partial - j);
    for (uint32_t i = 0; i < t; ++i) accumulated[i] += moved[i];
  }
  append(inverse.TimesColumn(accumulated));
  append(partial_keys);
  for (uint32_t r = kHalf + partial + 1; r < kFullRounds + partial; ++r) append(inverse.TimesColumn(round(r)));
}

std::unique_ptr<const PoseidonConstants> Make(uint32_t arity) {
  auto constants = std::make_unique<PoseidonConstants>();
  constants->arity = arity;
  constants->width = arity + 1;
  constants->full_rounds = kFullRounds;
  constants->partial_rounds = PartialRounds(arity);
  Grain grain(constants->width, constants->partial_rounds);
  const size_t count = size_t{kFullRounds + constants->partial_rounds} * constants->width;
  for (size_t i = 0; i < count; ++i) constants->round_constants.push_back(grain.Element());
  const Matrix mds = CauchyMatrix(constants->width);
  constants->mds = mds.elements();
  Factor(mds, *constants);
  CompressKeys(mds, *constants);
  return constants;
}

// The arities that exist.
constexpr std::array<uint32_t, 7> kArities = {2, 4, 8, 11, 16, 24, 36};

}  // namespace

const PoseidonConstants& PoseidonConstants::ForArity(uint32_t arity) {
  struct Slot {
    std::once_flag once;
    std::unique_ptr<const PoseidonConstants> constants;
  };
  // Made once and immutable from then on.
  static std::array<Slot, kArities.size()> slots;
  for (size_t i = 0; i < kArities.size(); ++i) {
    if (kArities[i] != arity) continue;
    std::call_once(slots[i].once, [&] { slots[i].constants = Make(arity); });
    return *slots[i].constants;
  }
  CUZK_CHECK(false && "Poseidon has no such arity");
  return *slots[0].constants;
}

namespace internal {

Fr Dot(const Fr* a, const Fr* b, uint32_t n) { return algebra::DotProduct({a, n}, {b, n}); }

}  // namespace internal

Fr MerkleTag(uint32_t arity) { return Fr::FromU64((uint64_t{1} << arity) - 1); }
Fr RandomnessTag() { return Fr::FromU64(uint64_t{1} << 40); }

Fr PoseidonHash(std::span<const Fr> preimage) {
  return PoseidonHash(preimage, MerkleTag(static_cast<uint32_t>(preimage.size())));
}

Fr PoseidonHash(std::span<const Fr> preimage, const Fr& tag) {
  NoTrace no_trace;
  return PoseidonPermutation(PoseidonConstants::ForArity(static_cast<uint32_t>(preimage.size())), preimage, tag,
                             no_trace);
}

Fr PoseidonRandomness(const Fr& a, const Fr& b) {
  const std::array<Fr, 2> preimage = {a, b};
  return PoseidonHash(preimage, RandomnessTag());
}

}  // namespace cuzk::circuit
