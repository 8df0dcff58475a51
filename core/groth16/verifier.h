#pragma once
// Verification of one proof, or of many of the same circuit with one final exponentiation.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "core/algebra/curve/pairing.h"
#include "core/algebra/field/fr.h"
#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/status.h"
#include "core/base/thread_pool.h"
#include "core/groth16/proof.h"
#include "core/groth16/verifying_key.h"

namespace cuzk::groth16 {

/// A proof and the public inputs it is for, without ONE.
struct Statement {
  Proof proof;
  std::vector<algebra::Fr> public_inputs;
};

/// Only for tests; the default has no effect.
struct VerifierSeams {
  std::function<bool(bool valid)> batch_answer;  ///< may change the result of a batch
};

/// A key made ready for verification. Immutable; any number of threads.
class Verifier {
 public:
  /// `arithmetic` must be supported.
  explicit Verifier(VerifyingKey key, algebra::Arithmetic arithmetic = algebra::BestArithmetic(),
                    VerifierSeams seams = {});

  const VerifyingKey& key() const { return key_; }

  /// Whether e(A, B) = e(alpha, beta) e(ic(x), gamma) e(C, delta). InvalidArgument if the number of inputs is not the
  /// key's; ResourceExhausted, memory.
  StatusOr<bool> Verify(const Statement& statement, ThreadPool& pool) const;

  /// Indices of the statements that do not verify, ascending; empty if all do. More than one: a random linear
  /// combination with one final exponentiation is verified first (128-bit coefficients from the operating system's
  /// generator), and each statement by itself only if that fails. InvalidArgument names the statement whose number of
  /// inputs is not the key's; ResourceExhausted, memory. `disagreed`, if given, is set if the combination failed
  /// although each statement verifies by itself: the answer is then right, but the machine or this program is faulty.
  StatusOr<std::vector<size_t>> FindWrong(std::span<const Statement> statements, ThreadPool& pool,
                                          bool* disagreed = nullptr) const;

 private:
  Status CheckInputs(const Statement& statement) const;
  StatusOr<bool> VerifyTogether(std::span<const Statement> statements, ThreadPool& pool) const;
  algebra::Fp12 LoopOf(std::span<const Statement> statements, std::vector<algebra::G1Affine> a,
                       std::span<const algebra::G1Affine> key_sums) const;

  VerifyingKey key_;
  algebra::Arithmetic arithmetic_;
  algebra::PreparedG2 gamma_, delta_;
  algebra::Gt alpha_beta_;  ///< e(alpha, beta)
  VerifierSeams seams_;
};

}  // namespace cuzk::groth16
