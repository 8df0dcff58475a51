#pragma once
// A generated parameter file of a small circuit, and the sums of its proof by definition.

#include <gtest/gtest.h>

#include "core/groth16/generator.h"
#include "core/groth16/parameter_file.h"
#include "core/groth16/proof.h"
#include "tests/doubles/small_circuits.h"
#include "tests/unit/groth16/scratch_dir.h"

namespace cuzk::testing_support {

/// alpha = 11, beta = 13, gamma = 17, delta = 19, tau = 23.
inline groth16::ToxicWaste SmallWaste() {
  using algebra::Fr;
  return {Fr::FromU64(11), Fr::FromU64(13), Fr::FromU64(17), Fr::FromU64(19), Fr::FromU64(23)};
}

inline groth16::GeneratorInput InputFor(const SmallCircuit& circuit, const r1cs::Shape& shape,
                                        const groth16::ToxicWaste& waste) {
  return {.shape = &shape, .rows = [&circuit](r1cs::RowSink& sink) { return circuit.Stream(sink); }, .waste = waste};
}

/// Where the points of a section begin in a file with these counts.
inline size_t SectionOffset(const groth16::SectionCounts& counts, groth16::Query query) {
  size_t at = groth16::VerifyingKey::kHeadBytes + 4 + groth16::kG1Bytes * counts.ic + 4;
  for (groth16::Query q : groth16::kAllQueries) {
    if (q == query) break;
    at += groth16::PointBytes(q) * counts[q] + 4;
  }
  return at;
}

/// Generates NAME.params in the folder.
inline StatusOr<groth16::GeneratorOutput> Generate(const SmallCircuit& circuit, const groth16::ToxicWaste& waste,
                                                   const std::filesystem::path& path, ThreadPool& pool) {
  auto shape = circuit.MakeShape();
  return groth16::GenerateParameters(InputFor(circuit, *shape, waste), {.path = path, .record_waste = true}, pool);
}

}  // namespace cuzk::testing_support
