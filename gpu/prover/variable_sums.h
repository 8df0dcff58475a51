#pragma once
// The second part of a partition: the sums of l, a, b_g1 and b_g2 over its variables; for several partitions of one
// circuit at once where points cross the bus, so that they do it once for all.

#include <optional>
#include <span>
#include <vector>

#include "gpu/prover/quotient_sum.h"

namespace cuzk::gpu {

/// One partition of a sweep. Everything outlives the sweep.
struct SweepMember {
  Assignment assignment;
  const WitnessSource* lease = nullptr;  ///< where values are read that are not in `assignment`
  PartialSums* sums = nullptr;
  prover::Timeline* timeline = nullptr;  ///< the sweep's stages are added
  std::stop_token stop;
};

/// Goes through the variables slab by slab: aux with at most so many whole values. For every query the points of the
/// slab are in device memory or come in pieces; scalars that are bits are summed at once from there, whole ones for the
/// whole slab. Terms with whole scalars are found through a list where points are resident; streamed ones are put
/// together in one place first.
///
/// Enqueues on two streams, of which `sums` comes last in the end. Blocks only where leases or points are in ordinary
/// memory. Cancelled between pieces, once all members are.
class VariableSums {
 public:
  /// Kernels that need points go to `points`, those that need whole scalars to `sums`; they may be the same. `arena` is
  /// for this alone.
  VariableSums(const PartContext& context, StreamView points, StreamView sums, Arena arena);

  Status Enqueue(const prover::DeviceLease&, std::span<const SweepMember> members);

 private:
  using Fr = algebra::Fr;
  struct Slab {
    uint64_t begin = 0, end = 0;  // aux
    uint64_t first_value = 0, values = 0;
  };
  /// Where the terms of a streamed slab are put together. The sums of one are computed while the other is filled.
  struct Gathered {
    std::byte* points = nullptr;
    std::optional<Event> filled, released;
    bool in_use = false;
  };
  Status TakeMemory(Arena arena);
  Status MakeStreamed(Arena& arena, uint64_t terms);
  Status SumSlab(const Slab& slab);
  StatusOr<const Fr*> ValuesOfSlab(const SweepMember& member, const Slab& slab);
  StatusOr<const Fr*> NarrowedValues(const SweepMember& member, const Slab& slab);
  template <class F>
  Status SumQuery(groth16::Query query, std::string_view stage, const Slab& slab);
  template <class F>
  Status SumResident(groth16::Query query, const Slab& slab);
  template <class F>
  Status SumStreamed(groth16::Query query, const Slab& slab);
  template <class F>
  Status SumPiece(groth16::Query query, const Slab& slab, uint64_t begin, uint64_t end, Gathered& gathered);
  template <class F>
  Status SumBits(groth16::Query query, const TermRange& range, const algebra::AffinePoint<F>* points);
  template <class F>
  Status SumTerms(groth16::Query query, const TermRange& range, const algebra::AffinePoint<F>* points, uint32_t* list);
  TermRange RangeOf(prover::Terms terms, uint64_t begin, uint64_t end) const;
  uint64_t TermsOf(prover::Terms terms, const Slab& slab) const;
  Status CheckStops() const;

  const PartContext c_;
  const r1cs::Shape& shape_;
  const CircuitPlan& plan_;
  const prover::QueryIndex& index_;
  const StreamView points_, sums_;
  std::span<const SweepMember> members_;
  std::vector<const Fr*> slab_values_;  // of each member, those of the slab

  Fr* scalars_ = nullptr;
  uint32_t* terms_ = nullptr;  // resident: the points of the slab's terms
  uint32_t* list_ = nullptr;   // points whose scalar is one
  uint32_t* list_count_ = nullptr;
  std::optional<DoubleBuffer> value_slots_, point_slots_;
  Gathered gathered_[2];
  int turn_ = 0;
  Arena list_scratch_, scratch_;
};

}  // namespace cuzk::gpu
