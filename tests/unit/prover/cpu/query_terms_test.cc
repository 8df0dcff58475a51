#include "core/prover/cpu/query_terms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/doubles/small_circuits.h"
#include "tests/unit/memory/faulty_allocator.h"

namespace cuzk::prover {
namespace {

using algebra::Fr;
using groth16::Query;
using r1cs::Layout;

/// The scalars of a query by definition.
std::vector<Fr> ByDefinition(const r1cs::Witness& witness, Query query) {
  const r1cs::Shape& shape = witness.shape();
  std::vector<Fr> aux(shape.counts.aux), out;
  witness.ExpandAux(0, aux);
  for (uint32_t i = 0; i < shape.counts.inputs; ++i) {
    if (query == Query::kA || (query == Query::kBG1 && shape.b_input.Contains(i))) out.push_back(witness.inputs()[i]);
  }
  for (uint32_t i = 0; i < shape.counts.aux; ++i) {
    if (query == Query::kL || (query == Query::kA && shape.a_aux.Contains(i)) ||
        (query == Query::kBG1 && shape.b_aux.Contains(i))) {
      out.push_back(aux[i]);
    }
  }
  return out;
}

class QueryTermsTest : public testing::TestWithParam<uint32_t> {};

TEST_P(QueryTermsTest, AreThoseOfTheDefinitionInBothLayouts) {
  auto circuit = testing_support::MixedCircuit({.size = GetParam()});
  auto shape = circuit->MakeShape();
  memory::AlignedAllocator allocator;
  for (Layout layout : {Layout::kPlain, Layout::kNarrow}) {
    const r1cs::Witness witness = circuit->MakeWitness(shape, layout);
    for (Query query : {Query::kL, Query::kA, Query::kBG1}) {
      std::vector<Fr> expected = ByDefinition(witness, query);
      ASSERT_EQ(expected.size(), groth16::SectionCounts::Of(*shape)[query]);
      auto terms = QueryTerms::Gather(witness, query, allocator);
      ASSERT_TRUE(terms.ok());
      std::vector<Fr> found(expected.size(), Fr::Zero());
      const algebra::ClassedScalars classed = terms->classed();
      for (uint32_t i : classed.ones) found.at(i) += Fr::One();
      ASSERT_EQ(classed.indices.size(), classed.scalars.size());
      for (size_t j = 0; j < classed.indices.size(); ++j) found.at(classed.indices[j]) += classed.scalars[j];
      EXPECT_TRUE(found == expected) << groth16::QueryName(query);
      // No bit is ever a scalar: what is wide are inputs and field elements alone.
      EXPECT_LE(classed.scalars.size(), shape->counts.inputs + shape->wide_aux_count());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, QueryTermsTest, testing::Values(1, 3, 38, 39, 63, 64, 65, 200));

TEST(QueryTerms, EveryFailingAllocationIsAnError) {
  auto circuit = testing_support::MixedCircuit({});
  const r1cs::Witness witness = circuit->MakeWitness(circuit->MakeShape(), Layout::kNarrow);
  testing_support::FaultyAllocator allocator;
  for (size_t call : {0, 1, 2}) {
    allocator.Fail(allocator.calls() + call);
    EXPECT_TRUE(absl::IsResourceExhausted(QueryTerms::Gather(witness, Query::kA, allocator).status()));
    EXPECT_EQ(allocator.bytes_out(), 0u);
  }
}

}  // namespace
}  // namespace cuzk::prover
