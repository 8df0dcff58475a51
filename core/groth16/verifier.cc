#include "core/groth16/verifier.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/algebra/msm/msm.h"
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

/// Where group g of `groups` begins. The first one has fewer proofs, because it has the pairs of the key besides.
size_t GroupBegin(size_t g, size_t n, size_t groups) { return g == 0 ? 0 : g * (n + 1) / groups - 1; }

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

/// prod_j ML(a_j, B_j) over the statements, all in one Miller loop, with the pairs (key_sums, gamma and delta) if there
/// are any.
Fp12 Verifier::LoopOf(std::span<const Statement> statements, std::vector<G1Affine> a,
                      std::span<const G1Affine> key_sums) const {
  std::vector<algebra::G2Affine> b;
  for (const Statement& statement : statements) b.push_back(statement.proof.b);
  if (arithmetic_ == algebra::Arithmetic::kIfma) {
    // On lanes two more pairs cost nothing; one at a time their prepared lines are worth more.
    if (!key_sums.empty()) b.insert(b.end(), {key_.gamma_g2, key_.delta_g2});
    a.insert(a.end(), key_sums.begin(), key_sums.end());
    return algebra::MillerLoop(a, b, arithmetic_);
  }
  const std::vector<PreparedG2> prepared(b.begin(), b.end());
  std::vector<PreparedPair> pairs;
  for (size_t j = 0; j < a.size(); ++j) pairs.push_back({a[j], &prepared[j]});
  if (!key_sums.empty()) pairs.insert(pairs.end(), {{key_sums[0], &gamma_}, {key_sums[1], &delta_}});
  return algebra::MillerLoop(pairs);
}

StatusOr<bool> Verifier::VerifyTogether(std::span<const Statement> statements, ThreadPool& pool) const {
  const size_t n = statements.size(), groups = std::min(n, pool.size());
  std::vector<std::array<uint64_t, 2>> z(n);
  std::vector<Fr> weights(n), inputs(key_.ic.size(), Fr::Zero());
  std::vector<G1Affine> a(n), c(n);
  for (size_t j = 0; j < n; ++j) {
    // One coefficient may be fixed: the others still tell any two errors apart.
    const Coefficient coefficient = j == 0 ? Coefficient{{1, 0}, Fr::One()} : RandomCoefficient();
    z[j] = coefficient.limbs;
    weights[j] = coefficient.element;
    a[j] = statements[j].proof.a;
    c[j] = statements[j].proof.c;
    inputs[0] += weights[j];
    for (size_t i = 1; i < inputs.size(); ++i) inputs[i] += weights[j] * statements[j].public_inputs[i - 1];
  }
  // prod_j e(z_j A_j, B_j) = e(alpha, beta)^(sum z) e(ic(sum_j z_j x_j), gamma) e(sum_j z_j C_j, delta)
  const algebra::MsmOptions options{.pool = &pool, .arithmetic = arithmetic_};
  StatusOr<G1> sums[2] = {G1::Infinity(), G1::Infinity()};
  algebra::Gt right;
  pool.ParallelFor(groups + 3, 1, [&](size_t begin, size_t end) {
    for (size_t task = begin; task < end; ++task) {
      if (task == 0) {
        sums[0] = algebra::Msm(key_.ic, inputs, options);
      } else if (task == 1) {
        right = algebra::Pow(alpha_beta_, inputs[0]);
      } else if (task == 2) {
        sums[1] = algebra::Msm(c, weights, options);
      } else {
        const size_t first = (task - 3) * n / groups, size = (task - 2) * n / groups - first;
        const std::span<G1Affine> part = std::span(a).subspan(first, size);
        algebra::ScalarMulEach(part, std::span(z).subspan(first, size), part, arithmetic_);
      }
    }
  });
  for (const StatusOr<G1>& sum : sums) CUZK_RETURN_IF_ERROR(sum.status());
  const G1Affine key_sums[2] = {-ToAffine(*sums[0]), -ToAffine(*sums[1])};
  std::vector<Fp12> loops(groups);
  pool.ParallelFor(groups, 1, [&](size_t begin, size_t end) {
    for (size_t g = begin; g < end; ++g) {
      const size_t first = GroupBegin(g, n, groups), last = GroupBegin(g + 1, n, groups);
      loops[g] = LoopOf(statements.subspan(first, last - first), {a.begin() + first, a.begin() + last},
                        g == 0 ? std::span<const G1Affine>(key_sums) : std::span<const G1Affine>());
    }
  });
  Fp12 product = loops[0];
  for (size_t g = 1; g < groups; ++g) product *= loops[g];
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
