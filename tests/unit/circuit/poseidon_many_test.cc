#include "core/circuit/poseidon/poseidon_many.h"

#include <gtest/gtest.h>

#include "core/circuit/poseidon/poseidon_permutation.h"
#include "tests/unit/algebra/arithmetics.h"

namespace cuzk::circuit {
namespace {

using algebra::Arithmetic;

std::vector<Fr> Elements(size_t n) {
  std::vector<Fr> x{Fr::Zero(), Fr::One(), -Fr::One()};
  while (x.size() < n)
    x.push_back(x[x.size() - 1] * x[x.size() - 2] + Fr::FromU64(x.size()) * x[x.size() - 3] - Fr::One());
  x.resize(n);
  return x;
}

/// Every call of a trace, in order.
struct Calls {
  std::vector<std::vector<Fr>> all;
  void Ensure(const Fr& l) { all.push_back({l}); }
  void Power(const Fr& x, const Fr& x2, const Fr& x4, const Fr& x5, const Fr& out) {
    all.push_back({x, x2, x4, x5, out});
  }
};

class PoseidonMany : public testing::TestWithParam<Arithmetic> {};

TEST_P(PoseidonMany, EqualsOneByOneForEveryArityAndCount) {
  for (uint32_t arity : {2u, 4u, 8u, 11u, 16u, 24u, 36u}) {
    for (size_t count : {0u, 1u, 8u, 19u}) {
      std::vector<Fr> preimages = Elements(arity * count), digests(count);
      PoseidonHashMany(preimages, arity, MerkleTag(arity), digests, GetParam());
      for (size_t i = 0; i < count; ++i) {
        EXPECT_EQ(digests[i], PoseidonHash(std::span<const Fr>(preimages).subspan(i * arity, arity)))
            << arity << " " << i;
      }
    }
  }
}

TEST_P(PoseidonMany, TracesShowWhatThePermutationShows) {
  for (uint32_t arity : {2u, 8u, 11u}) {
    const size_t count = 9;
    std::vector<Fr> preimages = Elements(arity * count);
    PoseidonTraces traces(preimages, arity, RandomnessTag(), GetParam());
    ASSERT_EQ(traces.size(), count);
    for (size_t i = 0; i < count; ++i) {
      Calls expected, replayed;
      Fr digest =
          PoseidonPermutation(PoseidonConstants::ForArity(arity),
                              std::span<const Fr>(preimages).subspan(i * arity, arity), RandomnessTag(), expected);
      traces.Replay(i, replayed);
      EXPECT_EQ(traces.digest(i), digest);
      EXPECT_EQ(replayed.all, expected.all);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Arithmetics, PoseidonMany, testing::ValuesIn(algebra::TestedArithmetics()),
                         [](const auto& info) { return std::string(algebra::ArithmeticName(info.param)); });

}  // namespace
}  // namespace cuzk::circuit
