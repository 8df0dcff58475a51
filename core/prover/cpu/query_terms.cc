#include "core/prover/cpu/query_terms.h"

#include <algorithm>
#include <bit>

#include "core/base/check.h"

namespace cuzk::prover {
namespace {

using algebra::Fr;
using groth16::Query;

/// Which variables a query has. A null set means all of them.
struct Members {
  const r1cs::IndexSet* inputs;
  const r1cs::IndexSet* aux;
};

Members MembersOf(const r1cs::Shape& shape, Query query) {
  static const r1cs::IndexSet kNone;
  switch (query) {
    case Query::kL:
      return {&kNone, nullptr};
    case Query::kA:
      return {nullptr, &shape.a_aux};
    default:
      return {&shape.b_input, &shape.b_aux};
  }
}

/// Calls `visit(bit)` for every set bit, ascending.
template <class Visit>
void ForEachBit(uint64_t word, Visit visit) {
  for (; word != 0; word &= word - 1) visit(static_cast<unsigned>(std::countr_zero(word)));
}

uint64_t Below(unsigned bit) { return (uint64_t{1} << bit) - 1; }

/// Walks the aux in words of 64 and calls `one(point)` and `full(point, scalar)`; returns the number of points.
template <class One, class Full>
uint64_t WalkAux(const r1cs::Witness& witness, const r1cs::IndexSet* members, uint64_t first_point, One one,
                 Full full) {
  const r1cs::Shape& shape = witness.shape();
  const uint64_t count = shape.counts.aux;
  const bool narrow = witness.layout().layout == r1cs::Layout::kNarrow;
  const std::span<const uint64_t> bits = witness.NarrowAux();
  const std::span<const Fr> wide = witness.WideAux();
  uint64_t point = first_point, wide_before = 0;
  for (uint64_t word = 0; word * 64 < count; ++word) {
    const uint64_t existing = count - word * 64 >= 64 ? ~uint64_t{0} : Below(static_cast<unsigned>(count - word * 64));
    const uint64_t dense = members ? members->words()[word] : existing;
    const uint64_t in_wide_plane = narrow ? existing & ~shape.boolean_aux.words()[word] : existing;
    if (narrow) ForEachBit(bits[word] & dense, [&](unsigned bit) { one(point + std::popcount(dense & Below(bit))); });
    ForEachBit(in_wide_plane & dense, [&](unsigned bit) {
      const Fr& scalar = wide[wide_before + std::popcount(in_wide_plane & Below(bit))];
      const uint64_t at = point + std::popcount(dense & Below(bit));
      if (scalar.IsOne()) {
        one(at);
      } else if (!scalar.IsZero()) {
        full(at, scalar);
      }
    });
    point += std::popcount(dense);
    wide_before += std::popcount(in_wide_plane);
  }
  return point;
}

/// All terms of the query, inputs first.
template <class One, class Full>
void Walk(const r1cs::Witness& witness, Query query, One one, Full full) {
  const Members members = MembersOf(witness.shape(), query);
  const std::span<const Fr> inputs = witness.inputs();
  uint64_t point = 0;
  if (!members.inputs || members.inputs->size() > 0) {
    for (uint64_t i = 0; i < inputs.size(); ++i) {
      if (!members.inputs || members.inputs->Contains(i)) full(point++, inputs[i]);
    }
  }
  WalkAux(witness, members.aux, point, one, full);
}

}  // namespace

StatusOr<QueryTerms> QueryTerms::Gather(const r1cs::Witness& witness, Query query, memory::HostAllocator& allocator) {
  CUZK_CHECK(query == Query::kL || query == Query::kA || query == Query::kBG1);
  uint64_t ones = 0, full = 0;
  Walk(
      witness, query, [&](uint64_t) { ++ones; }, [&](uint64_t, const Fr&) { ++full; });

  QueryTerms out;
  CUZK_ASSIGN_OR_RETURN(out.ones_, memory::Array<uint32_t>::Allocate(allocator, ones, "terms of a query"));
  CUZK_ASSIGN_OR_RETURN(out.indices_, memory::Array<uint32_t>::Allocate(allocator, full, "terms of a query"));
  CUZK_ASSIGN_OR_RETURN(out.scalars_, memory::Array<Fr>::Allocate(allocator, full, "scalars of a query"));
  uint64_t next_one = 0, next_full = 0;
  Walk(
      witness, query, [&](uint64_t point) { out.ones_[next_one++] = static_cast<uint32_t>(point); },
      [&](uint64_t point, const Fr& scalar) {
        out.indices_[next_full] = static_cast<uint32_t>(point);
        out.scalars_[next_full++] = scalar;
      });
  return out;
}

uint64_t QueryTerms::MaxBytes(const r1cs::Shape& shape) {
  const uint64_t full = shape.counts.inputs + shape.wide_aux_count();
  return shape.boolean_aux.count() * sizeof(uint32_t) + full * (2 * sizeof(uint32_t) + sizeof(Fr));
}

}  // namespace cuzk::prover
