#pragma once
// Where the parameters of a circuit go on a card, and how much everything takes, decided before anything is allocated.
// Plans are values computed from values: they need no card.

#include <array>
#include <cstdint>

#include "core/groth16/parameter_file.h"
#include "core/prover/device/card_limits.h"
#include "core/prover/device/device.h"
#include "core/prover/device/device_claims.h"
#include "core/prover/device/plan.h"
#include "core/r1cs/shape.h"

namespace cuzk::gpu {

/// What a plan needs to know of a circuit.
struct CircuitSizes {
  unsigned log2_domain = 0;
  uint64_t inputs = 0;
  uint64_t aux = 0;
  uint64_t whole_aux = 0;  ///< aux that are not boolean
  groth16::SectionCounts counts;
  uint64_t lease_bytes = 0;  ///< in the layout of the leases
  bool plain = false;        ///< that layout

  static CircuitSizes Of(const r1cs::Shape& shape, r1cs::Layout layout);
  uint64_t point_bytes(groth16::Query query) const { return counts[query] * groth16::PointBytes(query); }
  uint64_t vector_bytes() const { return sizeof(algebra::Fr) << log2_domain; }
  uint64_t boolean_aux() const { return aux - whole_aux; }
  /// Bits of all aux and the inputs on the card; with `values` the whole aux too.
  uint64_t AssignmentBytes(bool values) const;
};

/// Bytes and sizes for one circuit on one card.
///
/// A partition is computed in two parts, which use the card's workspace one after the other:
///   quotient   rows to vectors, transforms, the sum of h
///   variables  the sums of l, a, b_g1 and b_g2, for one partition or for several at once
/// Between them a partition holds its assignment in memory of its own.
struct CircuitPlan {
  prover::Plan plan;
  std::array<bool, groth16::kQueries> resident{};  ///< by query; the others are streamed from page-locked memory
  /// The witness is copied to the card as a whole before the partition enters the compute region; otherwise its rows
  /// are read from the lease in pieces while they are used.
  bool whole_witness = false;
  /// Whole values of the assignment stay on the card from the first part to the second; otherwise the sums read them
  /// from the lease in pieces. Always with whole_witness.
  bool keeps_values = false;

  bool plain_leases = false;  ///< it has room for assignments in the plain layout

  uint64_t row_slot_bytes = 0;    ///< of each of two slots that rows go through; 0 with whole_witness
  uint64_t point_slot_bytes = 0;  ///< of each of two slots that streamed points go through; 0 where none are
  uint64_t h_terms = 0;           ///< terms of the sum of h at a time: a power of two, or all
  uint64_t slab_values = 0;       ///< whole aux of the sums over variables at a time

  uint64_t held_bytes = 0;       ///< device memory of one partition from Start to Finish, outside of the workspace
  uint64_t workspace_bytes = 0;  ///< with which the circuit is proved best; shared by all partitions of the card
  uint64_t least_workspace_bytes = 0;  ///< with which it is proved a few per cent slower, or the same
  /// Of the workspace's end, for the sums over variables beside transforms and the sum of h; 0: one after the other.
  uint64_t side_bytes = 0;

  bool is_resident(groth16::Query query) const { return resident[static_cast<size_t>(query)]; }
  /// Whether the points of l, a, b_g1 and b_g2 cross the bus: then they do once for all partitions that wait for them.
  bool sweeps() const { return !is_resident(groth16::Query::kL) && keeps_values; }
};

/// Decides for `available` bytes of device memory. In this order, the first that fits:
///   all points in device memory, witnesses copied as a whole, for as many workers as asked
///   all points in device memory, witnesses in pieces
///   points of h in device memory, the others page-locked in host memory
///   all points page-locked in host memory
/// The last three for as many workers as fit, at least one. `available` counts the card's workspace and what its
/// partitions hold as free; `claimed` is what those of other circuits may need of both. ResourceExhausted with the
/// numbers where nothing fits.
StatusOr<CircuitPlan> PlanCircuit(const CircuitSizes& sizes, const prover::CardLimits& card, uint64_t available,
                                  const prover::DeviceClaims::Bytes& claimed, const prover::PlanOptions& options);

/// Of the device memory that there is, what the driver and the pieces of loading want.
uint64_t ReservedBytes(uint64_t available);

}  // namespace cuzk::gpu
