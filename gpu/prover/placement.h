#pragma once
// Where the parameters of a circuit go on a card, and how much everything takes, decided before anything is allocated.

#include <cstdint>

#include "core/groth16/parameter_file.h"
#include "core/prover/device.h"
#include "core/prover/device_claims.h"
#include "core/prover/plan.h"
#include "core/r1cs/shape.h"

namespace cuzk::gpu {

/// Bytes and sizes for one circuit on one card.
struct CircuitPlan {
  prover::Plan plan;
  bool resident = true;
  uint64_t vector_elements = 0;  ///< of each of the two vectors of the transforms, which also hold gathered scalars
  uint64_t list_elements = 0;    ///< of the list of points whose scalar is one
  uint64_t chunk_points = 0;     ///< streamed: points in device memory at a time (two buffers of them)
  uint64_t workspace_bytes = 0;  ///< vectors, list, chunks and scratch; shared by all partitions of the card
  /// Of the workspace's end, for the sums over variables beside transforms and the sum of h; 0: one after the other.
  uint64_t side_bytes = 0;
};

/// Decides for `available` bytes of device memory; the card is current (its processors decide how large scratch is).
///   resident  all points in device memory
///   streamed  points page-locked in host memory, a chunk at a time
/// Both for as many partitions at once and for the layout that the options say, and beside what partitions of other
/// circuits claim. `available` counts the card's workspace as free. ResourceExhausted with the numbers where neither
/// fits.
StatusOr<CircuitPlan> PlanCircuit(const r1cs::Shape& shape, uint64_t available,
                                  const prover::DeviceClaims::Bytes& claimed, const prover::PlanOptions& options);

}  // namespace cuzk::gpu
