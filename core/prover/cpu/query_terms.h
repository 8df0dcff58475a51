#pragma once
// The terms of a query by class, gathered from a witness by density. Bits are never widened: a variable that the layout
// keeps as a bit becomes an index if it is set and nothing otherwise.

#include <cstdint>
#include <span>

#include "core/algebra/msm/msm.h"
#include "core/base/status.h"
#include "core/groth16/parameter_file.h"
#include "core/memory/array.h"
#include "core/r1cs/witness.h"

namespace cuzk::prover {

/// Indices count the points of the query's section. Terms with scalar zero are left out where that costs nothing.
class QueryTerms {
 public:
  /// `query` is kL, kA or kBG1 (whose terms are those of kBG2 too). ResourceExhausted if memory is short.
  static StatusOr<QueryTerms> Gather(const r1cs::Witness& witness, groth16::Query query,
                                     memory::HostAllocator& allocator);

  /// Valid as long as this object.
  algebra::ClassedScalars classed() const { return {ones_.span(), indices_.span(), scalars_.span()}; }

  /// An upper bound of the bytes that Gather allocates for a shape.
  static uint64_t MaxBytes(const r1cs::Shape& shape);

 private:
  memory::Array<uint32_t> ones_, indices_;
  memory::Array<algebra::Fr> scalars_;
};

}  // namespace cuzk::prover
