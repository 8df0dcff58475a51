#include "core/groth16/verifier.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/algebra/msm.h"
#include "core/base/random.h"

namespace cuzk::groth16 {
namespace {

using algebra::Fp12;
using algebra::Fr;
using algebra::G1;
using algebra::G1Affine;
using algebra::PreparedG2;
using algebra::PreparedPair;

/// 128 random bits, not zero.
struct Coefficient {
  std::array<uint64_t, 2> limbs;
  Fr element;
};
Coefficient RandomCoefficient() {
  for (;;) {
    std::array<uint8_t, 32> bytes{};
    FillRandom(std::span(bytes).first(16));
    Fr x = *Fr::FromBytesLe(bytes);
    if (!x.IsZero()) return {{LoadLe<uint64_t>(bytes.data()), LoadLe<uint64_t>(bytes.data() + 8)}, x};
  }
}

/// Pairs of both groups.
struct Pairs {
  std::vector<G1Affine> p;
  std::vector<algebra::G2Affine> q;
};

/// prod_j ML(z_j A_j, B_j) and the loops of `others`, all in one Miller loop.
Fp12 WeightedLoop(std::span<const Statement> statements, std::span<const Coefficient> z, const Pairs& others,
                  algebra::Arithmetic arithmetic) {
  std::vector<G1Affine> a(statements.size());
  std::vector<algebra::G2Affine> b(statements.size());
  std::vector<std::array<uint64_t, 2>> weights(statements.size());
  for (size_t j = 0; j < statements.size(); ++j) {
    a[j] = statements[j].proof.a;
    b[j] = statements[j].proof.b;
    weights[j] = z[j].limbs;
  }
  algebra::ScalarMulEach(a, weights, a, arithmetic);
  a.insert(a.end(), others.p.begin(), others.p.end());
  b.insert(b.end(), others.q.begin(), others.q.end());
  return algebra::MillerLoop(a, b, arithmetic);
}

}  // namespace

Verifier::Verifier(VerifyingKey key, algebra::Arithmetic arithmetic, VerifierSeams seams)
    : key_(std::move(key)),
      arithmetic_(arithmetic),
      gamma_(key_.gamma_g2),
      delta_(key_.delta_g2),
      alpha_beta_(algebra::Pairing(key_.alpha_g1, key_.beta_g2)),
      seams_(std::move(seams)) {}

Status Verifier::CheckInputs(const Statement& statement) const {
  if (statement.public_inputs.size() == key_.public_inputs()) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("malformed verifying key for these inputs: ", statement.public_inputs.size(),
                                           " public inputs, the key is for ", key_.public_inputs()));
}

StatusOr<bool> Verifier::Verify(const Statement& statement, ThreadPool& pool) const {
  CUZK_RETURN_IF_ERROR(CheckInputs(statement));
  const Proof& proof = statement.proof;
  CUZK_ASSIGN_OR_RETURN(G1 inputs, algebra::Msm(std::span(key_.ic).subspan(1), statement.public_inputs,
                                                {.pool = &pool, .arithmetic = arithmetic_}));
  inputs += key_.ic[0];
  // e(A, B) e(-ic(x), gamma) e(-C, delta) = e(alpha, beta)
  const PreparedG2 b(proof.b);
  const std::array<PreparedPair, 3> pairs = {PreparedPair{proof.a, &b}, PreparedPair{-ToAffine(inputs), &gamma_},
                                             PreparedPair{-proof.c, &delta_}};
  return algebra::FinalExponentiation(algebra::MillerLoop(pairs)) == alpha_beta_;
}

StatusOr<bool> Verifier::VerifyTogether(std::span<const Statement> statements, ThreadPool& pool) const {
  const size_t n = statements.size();
  std::vector<Coefficient> z(n);
  std::vector<Fr> weights(n), inputs(key_.ic.size(), Fr::Zero());
  std::vector<G1Affine> c(n);
  for (size_t j = 0; j < n; ++j) {
    z[j] = RandomCoefficient();
    weights[j] = z[j].element;
    c[j] = statements[j].proof.c;
    inputs[0] += weights[j];
    for (size_t i = 1; i < inputs.size(); ++i) inputs[i] += weights[j] * statements[j].public_inputs[i - 1];
  }
  // prod_j e(z_j A_j, B_j) = e(alpha, beta)^(sum z) e(ic(sum_j z_j x_j), gamma) e(sum_j z_j C_j, delta)
  const algebra::MsmOptions sum{.pool = &pool, .arithmetic = arithmetic_};
  // On lanes two more pairs cost nothing; one at a time their prepared lines are worth more, and more groups than
  // threads keep all of them busy to the end.
  const bool lanes = arithmetic_ == algebra::Arithmetic::kIfma;
  const size_t groups = std::min(n, lanes ? pool.size() : 2 * pool.size());
  Status status;  // of the key's sums, whose task is the first
  auto loop_of_key = [&]() -> StatusOr<Pairs> {
    CUZK_ASSIGN_OR_RETURN(G1 input_sum, algebra::Msm(key_.ic, inputs, sum));
    CUZK_ASSIGN_OR_RETURN(G1 c_sum, algebra::Msm(c, weights, sum));
    return Pairs{{-ToAffine(input_sum), -ToAffine(c_sum)}, {key_.gamma_g2, key_.delta_g2}};
  };
  std::vector<Fp12> loops(groups + 1, Fp12::One());
  algebra::Gt right;
  const Pairs none;
  Pairs key_pairs;
  if (lanes) {
    CUZK_ASSIGN_OR_RETURN(key_pairs, loop_of_key());
  }
  pool.ParallelFor(groups + 2, 1, [&](size_t begin, size_t end) {
    for (size_t task = begin; task < end; ++task) {
      if (task == 0 && !lanes) {
        StatusOr<Pairs> pairs = loop_of_key();
        status = pairs.status();
        if (!pairs.ok()) continue;
        loops[groups] =
            algebra::MillerLoop(std::array{PreparedPair{pairs->p[0], &gamma_}, PreparedPair{pairs->p[1], &delta_}});
      } else if (task == groups + 1) {
        right = algebra::Pow(alpha_beta_, inputs[0]);
      } else if (task > 0) {
        const size_t g = task - 1, first = g * n / groups, size = (g + 1) * n / groups - first;
        loops[g] = WeightedLoop(statements.subspan(first, size), std::span<const Coefficient>(z).subspan(first, size),
                                lanes && g == 0 ? key_pairs : none, arithmetic_);
      }
    }
  });
  CUZK_RETURN_IF_ERROR(status);
  Fp12 product = loops[groups];
  for (size_t g = 0; g < groups; ++g) product *= loops[g];
  return algebra::FinalExponentiation(product) == right;
}

StatusOr<std::vector<size_t>> Verifier::FindWrong(std::span<const Statement> statements, ThreadPool& pool,
                                                  bool* disagreed) const {
  if (disagreed) *disagreed = false;
  for (size_t j = 0; j < statements.size(); ++j) {
    Status status = CheckInputs(statements[j]);
    if (!status.ok()) return Annotate(status, StrCat("proof ", j));
  }
  std::vector<size_t> wrong;
  if (statements.empty()) return wrong;
  if (statements.size() > 1) {
    CUZK_ASSIGN_OR_RETURN(bool valid, VerifyTogether(statements, pool));
    if (seams_.batch_answer) valid = seams_.batch_answer(valid);
    if (valid) return wrong;
  }
  for (size_t j = 0; j < statements.size(); ++j) {
    CUZK_ASSIGN_OR_RETURN(bool valid, Verify(statements[j], pool));
    if (!valid) wrong.push_back(j);
  }
  if (disagreed) *disagreed = statements.size() > 1 && wrong.empty();
  return wrong;
}

}  // namespace cuzk::groth16
