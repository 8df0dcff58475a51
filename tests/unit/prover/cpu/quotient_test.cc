#include "core/prover/cpu/quotient.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/doubles/small_circuits.h"
#include "tests/unit/memory/faulty_allocator.h"

namespace cuzk::prover {
namespace {

using algebra::Domain;
using algebra::Fr;
using r1cs::Layout;
using r1cs::Matrix;

std::vector<Fr> Quotient(const r1cs::Witness& witness, ThreadPool& pool) {
  memory::AlignedAllocator allocator;
  Domain domain(witness.shape().counts.log2_domain(), algebra::Arithmetic::kScalar);
  auto h = QuotientOf(witness, domain, {.allocator = &allocator, .pool = &pool});
  EXPECT_TRUE(h.ok()) << h.status();
  return {h->span().begin(), h->span().end()};
}

TEST(Quotient, ToyCircuitsCoefficientsAreTheReferences) {
  const char* recorded[] = {"0cadfe4d188d39b3e59a53a0e10db3a09528bdf053ffd20fe3ffffffe3ffffd1",
                            "069495e61c690d46a38cc3e569ba4f8e1f1e50e1bc195d4101d714a08a539f5a",
                            "3245411775320b547dba543409e3c19e50dc5e10eca1b0c130b8e84722e3ca2e",
                            "23fc26f77a016825c3cfde9915c54049779e44336798f7771ff1364e7fc6beeb",
                            "0d34e3f366cbe2e208211453f2d6bcff7372735170fb6f032dc7b24af424147d",
                            "1da0f88016fa534599b2c5ea4379cdf201a47757a28373c9c272a80cca8705f6",
                            "5047d48fad2ecc05cf56035aa8de217bfb3bf44e6e13e9fa81ee884a81253ad6",
                            "0000000000000000000000000000000000000000000000000000000000000000"};
  ThreadPool pool(2);
  auto toy = testing_support::ToyCircuit();
  for (Layout layout : {Layout::kPlain, Layout::kNarrow}) {
    const std::vector<Fr> h = Quotient(toy->MakeWitness(toy->MakeShape(), layout), pool);
    ASSERT_EQ(h.size(), 8u);
    for (size_t i = 0; i < 8; ++i) EXPECT_EQ(ToHex(h[i].ToBytesBe()), recorded[i]) << i;
  }
}

/// At a random point: A(x) B(x) - C(x) = H(x) Z(x), where A, B, C interpolate the rows.
TEST(Quotient, IdentityHoldsAtARandomPoint) {
  ThreadPool pool(3);
  auto circuit = testing_support::MixedCircuit({.size = 150});
  for (Layout layout : {Layout::kPlain, Layout::kNarrow}) {
    const r1cs::Witness witness = circuit->MakeWitness(circuit->MakeShape(), layout);
    const std::vector<Fr> h = Quotient(witness, pool);
    const Domain domain(witness.shape().counts.log2_domain(), algebra::Arithmetic::kScalar);
    const Fr x = algebra::RandomFr();
    auto at_x = [&](Matrix matrix) {
      std::vector<Fr> rows(domain.size(), Fr::Zero());
      witness.ExpandRows(matrix, 0, std::span(rows).first(witness.shape().counts.rows_with_inputs()));
      InverseNtt(rows, domain, pool);
      return algebra::NaiveEvaluate(rows, x);
    };
    EXPECT_TRUE(h.back().IsZero());
    EXPECT_EQ(at_x(Matrix::kA) * at_x(Matrix::kB) - at_x(Matrix::kC),
              algebra::NaiveEvaluate(h, x) * (x.Pow(domain.size()) - Fr::One()));
  }
}

TEST(Quotient, AWrongRowLeavesARemainder) {
  ThreadPool pool(1);
  auto circuit = testing_support::MixedCircuit({.wrong = true});
  EXPECT_FALSE(Quotient(circuit->MakeWitness(circuit->MakeShape(), Layout::kNarrow), pool).back().IsZero());
}

TEST(Quotient, MemoryAndStop) {
  ThreadPool pool(1);
  auto circuit = testing_support::MixedCircuit({});
  const r1cs::Witness witness = circuit->MakeWitness(circuit->MakeShape(), Layout::kPlain);
  const Domain domain(witness.shape().counts.log2_domain(), algebra::Arithmetic::kScalar);
  testing_support::FaultyAllocator allocator;
  for (size_t call : {0, 1}) {
    allocator.Fail(allocator.calls() + call);
    EXPECT_TRUE(
        absl::IsResourceExhausted(QuotientOf(witness, domain, {.allocator = &allocator, .pool = &pool}).status()));
    EXPECT_EQ(allocator.bytes_out(), 0u);
  }
  allocator.FailNever();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(
      QuotientOf(witness, domain, {.allocator = &allocator, .pool = &pool, .stop = stop.get_token()}).status()));
  EXPECT_EQ(allocator.bytes_out(), 0u);
}

}  // namespace
}  // namespace cuzk::prover
