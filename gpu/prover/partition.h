#pragma once
// One partition on a card: from the witness in device memory to the five sums.

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "core/prover/device.h"
#include "core/prover/device_lease.h"
#include "gpu/msm/msm.h"
#include "gpu/prover/cuda_parameters.h"

namespace cuzk::gpu {

/// What one worker of a card owns: its streams, its copy of the witness, and where its results land. Used by one
/// thread at a time.
struct Worker {
  static StatusOr<std::unique_ptr<Worker>> Create(const CardContext& card);

  Stream copy, compute;
  Stream side;  // sums that do not fill the card, beside `compute` and before it
  Buffer<std::byte> witness;
  PinnedArray<algebra::G1Xyzz> g1_results;  // a stretch for each of h, l, a, b_g1
  PinnedArray<algebra::G2Xyzz> g2_results;
};

/// Where one query's results lie, and what they mean.
struct QuerySum {
  bool has_terms = false;  ///< `plan` and its points are there
  bool has_ones = false;   ///< the last point is the sum over scalars that are one
  MsmPlan plan;
};

/// Begin and end of a stage on its stream.
struct StageEvents {
  std::string_view stage;
  StreamView stream;
  Event begin, end;
};

/// Where kernels are enqueued, and the scratch that only they use.
struct Lane {
  StreamView stream;
  Arena arena;
};

/// Enqueues the computation of one partition. Every function takes the lease: only its holder enqueues kernels.
class PartitionRun {
 public:
  PartitionRun(const CudaParameters& parameters, r1cs::Layout layout, Worker& worker, std::span<std::byte> workspace)
      : parameters_(parameters),
        shape_(*parameters.shape()),
        lease_layout_(r1cs::LeaseLayout::For(shape_, layout)),
        worker_(worker),
        main_{worker.compute, Arena(workspace.data(), MainBytes(workspace, parameters.circuit_plan()))},
        side_{worker.side, Arena(workspace.data() + main_.arena.bytes(), workspace.size() - main_.arena.bytes())} {}

  /// Everything. Where points are streamed it waits in between; resident, it only enqueues. Cancelled between stages.
  Status Enqueue(const prover::DeviceLease& lease, const CardContext& card, std::stop_token stop);

  /// After the compute stream is done. Runs on the host.
  groth16::MsmResults Collect();
  /// The stages by the events; everything ended at `end`.
  StatusOr<prover::Timeline> StageTimes(std::chrono::steady_clock::time_point end) const;

 private:
  using Fr = algebra::Fr;
  /// All but the plan's side_bytes; ends where an Arena may begin.
  static size_t MainBytes(std::span<const std::byte> workspace, const CircuitPlan& plan) {
    return plan.side_bytes == 0 ? workspace.size() : (workspace.size() - plan.side_bytes) / 256 * 256;
  }
  bool side_by_side() const { return parameters_.circuit_plan().side_bytes > 0; }
  /// Of the sums over variables.
  Lane& sums_lane() { return side_by_side() ? side_ : main_; }
  Status TakeMemory();
  Status SumVariables();
  Status Transforms();
  Status Rows(r1cs::Matrix matrix, Fr* out);
  Status NarrowPlainAux();
  Status SumH();
  Status SumTerms(Terms terms, std::string_view stage, groth16::Query query);
  template <class F>
  Status SumRange(Terms terms, const algebra::AffinePoint<F>* points, uint64_t begin, uint64_t end, size_t slot);
  template <class F>
  Status ForEachChunk(groth16::Query query, size_t slot, auto&& enqueue);
  template <class F>
  algebra::JacobianPoint<F> SumOf(size_t slot) const;
  template <class F>
  algebra::XyzzPoint<F>* Results(size_t slot) const;
  Status BeginStage(std::string_view stage, StreamView stream);
  Status EndStage();
  Status CheckStop() const;
  const std::byte* Plane(const r1cs::Plane& plane) const { return worker_.witness.data() + plane.offset; }

  const CudaParameters& parameters_;
  const r1cs::Shape& shape_;
  const r1cs::LeaseLayout lease_layout_;
  Worker& worker_;
  Lane main_, side_;
  std::stop_token stop_;
  Fr* vectors_[2] = {};
  Fr* gathered_ = nullptr;  // whole scalars of a sum over variables
  uint32_t* list_ = nullptr;
  uint32_t* list_count_ = nullptr;
  std::byte* chunks_[2] = {};
  const uint64_t* aux_bits_ = nullptr;
  const Fr* aux_wide_ = nullptr;
  std::array<QuerySum, groth16::kQueries> sums_;
  groth16::MsmResults streamed_{algebra::G1::Infinity(), algebra::G1::Infinity(), algebra::G1::Infinity(),
                                algebra::G1::Infinity(), algebra::G2::Infinity()};  // sums of the chunks so far
  std::vector<StageEvents> stages_;
  std::optional<Event> finished_;  // of everything
};

}  // namespace cuzk::gpu
