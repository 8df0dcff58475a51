#include "core/groth16/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::groth16 {
namespace {

using algebra::Fr;
using algebra::G1Affine;
using algebra::G2Affine;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A key whose secrets are known, and statements that satisfy its equation by construction: with everything a multiple
/// of the generators, a b = alpha beta + ic(x) gamma + c delta is solved for c.
class Forge {
 public:
  explicit Forge(size_t inputs) {
    for (Fr* x : {&alpha_, &beta_, &gamma_, &delta_}) *x = algebra::RandomFr();
    for (size_t i = 0; i <= inputs; ++i) ic_.push_back(algebra::RandomFr());
  }
  VerifyingKey Key() const {
    VerifyingKey key{G1(alpha_), G1(beta_), G2(beta_), G2(gamma_), G1(delta_), G2(delta_), {}};
    for (const Fr& x : ic_) key.ic.push_back(G1(x));
    return key;
  }
  Statement Make() const {
    Statement out;
    Fr a = algebra::RandomFr(), b = algebra::RandomFr(), inputs = ic_[0];
    for (size_t i = 1; i < ic_.size(); ++i) {
      out.public_inputs.push_back(algebra::RandomFr());
      inputs += out.public_inputs.back() * ic_[i];
    }
    const Fr c = (a * b - alpha_ * beta_ - inputs * gamma_) * delta_.Inverse();
    out.proof = {G1(a), G2(b), G1(c)};
    return out;
  }

 private:
  static G1Affine G1(const Fr& x) { return ToAffine(ScalarMul(algebra::G1Generator(), x)); }
  static G2Affine G2(const Fr& x) { return ToAffine(ScalarMul(algebra::G2Generator(), x)); }
  Fr alpha_, beta_, gamma_, delta_;
  std::vector<Fr> ic_;
};

class VerifierTest : public testing::Test {
 protected:
  std::vector<Statement> Make(size_t n) {
    std::vector<Statement> out;
    for (size_t i = 0; i < n; ++i) out.push_back(forge_.Make());
    return out;
  }
  Forge forge_{3};
  Verifier verifier_{forge_.Key()};
  ThreadPool pool_{3};
};

TEST_F(VerifierTest, AcceptsAnyNumberTogether) {
  for (size_t n : {0, 1, 2, 3, 10, 16}) EXPECT_THAT(verifier_.FindWrong(Make(n), pool_).value(), IsEmpty()) << n;
}

TEST_F(VerifierTest, NamesEveryWrongOne) {
  std::vector<Statement> statements = Make(10);
  statements[3].proof.c = -statements[3].proof.c;
  statements[9].public_inputs[0] += Fr::One();
  EXPECT_THAT(verifier_.FindWrong(statements, pool_).value(), ElementsAre(3, 9));
  std::swap(statements[0].proof.a, statements[1].proof.a);
  EXPECT_THAT(verifier_.FindWrong(statements, pool_).value(), ElementsAre(0, 1, 3, 9));
}

// Two errors that cancel in an unweighted sum do not cancel in a random combination.
TEST_F(VerifierTest, ErrorsDoNotCancel) {
  std::vector<Statement> statements = Make(2);
  const algebra::G1 shift = algebra::ToJacobian(algebra::RandomG1());
  statements[0].proof.c = ToAffine(shift + statements[0].proof.c);
  statements[1].proof.c = ToAffine(-shift + statements[1].proof.c);
  EXPECT_THAT(verifier_.FindWrong(statements, pool_).value(), ElementsAre(0, 1));
}

TEST_F(VerifierTest, ABatchThatDisagreesWithItsProofsIsTold) {
  const Verifier faulty(forge_.Key(), algebra::BestArithmetic(), {.batch_answer = [](bool) { return false; }});
  bool disagreed = false;
  EXPECT_THAT(faulty.FindWrong(Make(3), pool_, &disagreed).value(), IsEmpty());
  EXPECT_TRUE(disagreed);
  EXPECT_THAT(verifier_.FindWrong(Make(3), pool_, &disagreed).value(), IsEmpty());
  EXPECT_FALSE(disagreed);
  // One alone is no batch, and a wrong one is a reason to refuse the batch.
  EXPECT_THAT(faulty.FindWrong(Make(1), pool_, &disagreed).value(), IsEmpty());
  EXPECT_FALSE(disagreed);
  std::vector<Statement> statements = Make(3);
  statements[1].proof.c = -statements[1].proof.c;
  EXPECT_THAT(faulty.FindWrong(statements, pool_, &disagreed).value(), ElementsAre(1));
  EXPECT_FALSE(disagreed);
}

TEST_F(VerifierTest, ArithmeticsAndThreadsAgree) {
  for (algebra::Arithmetic arithmetic : {algebra::Arithmetic::kScalar, algebra::BestArithmetic()}) {
    const Verifier verifier(forge_.Key(), arithmetic);
    for (size_t threads : {1, 2, 5}) {
      ThreadPool pool(threads);
      for (size_t n : {2, 3, 10, 16}) {
        std::vector<Statement> statements = Make(n);
        EXPECT_THAT(verifier.FindWrong(statements, pool).value(), IsEmpty()) << n << " on " << threads;
        statements[n - 1].public_inputs[2] += Fr::One();
        EXPECT_THAT(verifier.FindWrong(statements, pool).value(), ElementsAre(n - 1)) << n << " on " << threads;
      }
    }
  }
}

TEST_F(VerifierTest, NumberOfInputsMustBeTheKeys) {
  std::vector<Statement> statements = Make(3);
  statements[2].public_inputs.pop_back();
  Status status = verifier_.FindWrong(statements, pool_).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("proof 2"));
  EXPECT_TRUE(absl::IsInvalidArgument(verifier_.Verify(statements[2], pool_).status()));
  statements[2].public_inputs.assign(4, Fr::One());
  EXPECT_FALSE(verifier_.FindWrong(statements, pool_).ok());
}

}  // namespace
}  // namespace cuzk::groth16
