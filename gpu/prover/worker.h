#pragma once
// What one worker of a card owns, and how it reaches a witness.

#include <memory>

#include "core/r1cs/witness.h"
#include "gpu/prover/cuda_parameters.h"
#include "gpu/prover/partial_sums.h"
#include "gpu/runtime/stream.h"

namespace cuzk::gpu {

/// Streams, and where results land. Used by one thread at a time.
struct Worker {
  static StatusOr<std::unique_ptr<Worker>> Create(const CardContext& card);

  Stream copy, compute;
  Stream side;  // beside `compute` and before it: sums that do not fill the card, and what prepares work for `compute`
  PartialSums sums;
};

/// Where the planes of a witness are read. Does not own them.
struct WitnessSource {
  r1cs::LeaseLayout layout;
  const std::byte* device = nullptr;  ///< the whole lease in device memory; null: it is read from `host`
  const std::byte* host = nullptr;    ///< the lease; null once it is on the card

  bool narrow() const { return layout.layout == r1cs::Layout::kNarrow; }
  template <class T>
  const T* On(const std::byte* base, const r1cs::Plane& plane) const {
    return reinterpret_cast<const T*>(base + plane.offset);
  }
};

/// A partition's assignment in device memory.
struct Assignment {
  const uint64_t* bits = nullptr;       ///< of every aux, zero where it is not boolean
  const algebra::Fr* inputs = nullptr;  ///< all of them
  const algebra::Fr* values = nullptr;  ///< aux that are not boolean, in order; null: they are read from the lease
};

}  // namespace cuzk::gpu
