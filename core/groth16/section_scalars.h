#pragma once
// A setup before it becomes points: the key, and the scalar of every point of every section.

#include <cstdint>
#include <span>

#include "core/groth16/generator.h"
#include "core/groth16/parameter_file.h"
#include "core/groth16/query_scalars.h"
#include "core/groth16/verifying_key.h"

namespace cuzk::groth16 {

/// Immutable. Holds 96 bytes a variable; the shape that it was made for must outlive it.
class SectionScalars {
 public:
  /// InvalidArgument: a secret is zero, or what EvaluateAtTau refuses. `allocator` outlives the result.
  static StatusOr<SectionScalars> Make(const GeneratorInput& input, memory::HostAllocator& allocator, ThreadPool& pool);

  const VerifyingKey& key() const { return key_; }
  const SectionCounts& counts() const { return counts_; }
  /// out[i] = the scalar of point begin + i of the section (b_g1's and b_g2's are the same).
  void Fill(Query query, uint64_t begin, std::span<algebra::Fr> out, ThreadPool& pool) const;

 private:
  SectionScalars(const r1cs::Shape& shape, const ToxicWaste& waste, LagrangeAt lagrange, QueryScalars scalars);
  void FillPowers(uint64_t begin, std::span<algebra::Fr> out) const;
  void FillMembers(Query query, uint64_t begin, std::span<algebra::Fr> out) const;

  const r1cs::Shape* shape_;
  ToxicWaste waste_;
  algebra::Fr delta_inverse_;
  LagrangeAt lagrange_;
  QueryScalars scalars_;
  SectionCounts counts_;
  VerifyingKey key_;
};

}  // namespace cuzk::groth16
