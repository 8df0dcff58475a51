#pragma once
// The first part of a partition: rows to vectors, transforms, and the sum of h.

#include <optional>
#include <stop_token>

#include "core/prover/device/device_lease.h"
#include "gpu/prover/stage_events.h"
#include "gpu/prover/worker.h"
#include "gpu/prover/workspace.h"
#include "gpu/runtime/double_buffer.h"

namespace cuzk::gpu {

/// What a part of a partition works with. Everything outlives the part and what it enqueued.
struct PartContext {
  const CudaParameters& parameters;
  const CardContext& card;
  Worker& worker;
  const Workspace& workspace;
  StageEvents& events;
};

/// Cancelled if `stop` was asked for.
Status CheckStop(const std::stop_token& stop);

/// Enqueues on the worker's compute stream, and blocks only where the lease is in ordinary memory. Cancelled between
/// stages and pieces.
class QuotientSum {
 public:
  QuotientSum(const PartContext& context, const WitnessSource& witness, std::stop_token stop);

  /// Rows to vectors, and transforms. Every function takes the lease: only its holder enqueues kernels.
  Status Transform(const prover::DeviceLease&);
  /// After Transform: the sum of h into the worker's sums.
  Status Sum(const prover::DeviceLease&);

 private:
  using Fr = algebra::Fr;
  Status TakeMemory();
  Status Rows(r1cs::Matrix matrix, Fr* out, StreamView stream);
  Status RowsInPieces(r1cs::Matrix matrix, Fr* out, StreamView stream);
  Status RowsOfB();
  Status Transforms();
  Status SumResident();
  Status SumStreamed();
  /// `split`: see EnqueueMsm.
  Status EnqueueSum(const algebra::G1Affine* points, const Fr* scalars, uint64_t terms, const IndexMap& map,
                    Arena arena, uint32_t* split = nullptr);
  /// Whether the sum of h reads all of its scalars at once.
  bool sums_whole() const;
  uint64_t vector_bytes() const { return Workspace::Align(vector_elements_ * sizeof(Fr)); }

  const PartContext c_;
  const r1cs::Shape& shape_;
  const WitnessSource witness_;
  const std::stop_token stop_;
  const uint64_t vector_elements_;
  Fr* vectors_[2] = {};  // the second one holds h in reversed order in the end
  std::optional<DoubleBuffer> row_slots_;
};

}  // namespace cuzk::gpu
