#pragma once
// The parameters of one circuit on one card.

#include <array>
#include <atomic>
#include <memory>

#include "core/groth16/section_scalars.h"
#include "core/prover/device/device.h"
#include "core/prover/device/device_claims.h"
#include "core/prover/device/sweep_group.h"
#include "gpu/ntt/transform.h"
#include "gpu/prover/circuit_tables.h"
#include "gpu/prover/placement.h"
#include "gpu/runtime/pinned_allocator.h"

namespace cuzk::gpu {

struct SweepMember;

/// What the parts of the CUDA device share; outlives parameters and partitions.
struct CardContext {
  DeviceId id{};
  DeviceMemory* memory = nullptr;
  memory::HostAllocator* pinned = nullptr;
  ThreadPool* pool = nullptr;
  prover::DeviceClaims* claims = nullptr;
  prover::CardLimits limits;                ///< what plans may count on
  std::atomic<uint64_t>* copied = nullptr;  ///< bytes that crossed the bus towards the card
};

class CudaParameters final : public prover::ResidentParameters {
 public:
  ~CudaParameters() override;

  /// See prover::Device::Load. The file's bytes go through two page-locked buffers; points are decoded and checked on
  /// the card, so that disk, bus and card work at once.
  static StatusOr<std::shared_ptr<const CudaParameters>> Load(const groth16::ParameterFile& file,
                                                              std::shared_ptr<const r1cs::Shape> shape,
                                                              CircuitPlan plan, const prover::LoadOptions& options,
                                                              const CardContext& card);
  /// Development parameters from a setup's scalars: every point is made on the card and left where the plan says.
  static StatusOr<std::shared_ptr<const CudaParameters>> Make(const groth16::SectionScalars& scalars,
                                                              std::shared_ptr<const r1cs::Shape> shape,
                                                              CircuitPlan plan, const Progress& progress,
                                                              const CardContext& card);

  /// Device bytes that Load takes beside what stays, for sections of these lengths.
  static uint64_t LoadingBytes(const groth16::SectionCounts& counts);

  const groth16::VerifyingKey& verifying_key() const override { return key_; }
  const std::shared_ptr<const r1cs::Shape>& shape() const override { return shape_; }
  const prover::Plan& plan() const override { return plan_.plan; }

  const CircuitPlan& circuit_plan() const { return plan_; }
  const CircuitTables& tables() const { return *tables_; }
  const DomainTables& domain() const { return *domain_; }
  /// Points of a query: in device memory if the plan says resident, else page-locked in host memory.
  const std::byte* points(groth16::Query query) const;
  uint64_t count(groth16::Query query) const { return counts_[query]; }
  DeviceId card() const { return card_.id; }
  /// Its partitions, which have as many places as the plan has workers.
  prover::SweepGroup<SweepMember>& sweeps() const { return sweeps_; }

 private:
  CudaParameters(std::shared_ptr<const r1cs::Shape> shape, CircuitPlan plan, const CardContext& card)
      : card_(card),
        shape_(std::move(shape)),
        plan_(std::move(plan)),
        claim_(card.claims->Add({plan_.least_workspace_bytes, plan_.plan.workers * plan_.held_bytes})),
        sweeps_(plan_.plan.workers) {}
  /// Everything but the points.
  static StatusOr<std::shared_ptr<CudaParameters>> Prepare(std::shared_ptr<const r1cs::Shape> shape, CircuitPlan plan,
                                                           const groth16::VerifyingKey& key, const CardContext& card);
  /// Memory for the points of a section: on the card or page-locked, as planned.
  StatusOr<std::byte*> Allocate(groth16::Query query);

  const CardContext card_;
  std::shared_ptr<const r1cs::Shape> shape_;
  CircuitPlan plan_;
  const prover::DeviceClaims::Claim claim_;
  mutable prover::SweepGroup<SweepMember> sweeps_;
  groth16::VerifyingKey key_;
  groth16::SectionCounts counts_;
  std::unique_ptr<const CircuitTables> tables_;
  std::unique_ptr<const DomainTables> domain_;
  std::array<Buffer<std::byte>, groth16::kQueries> device_points_;
  std::array<PinnedArray<std::byte>, groth16::kQueries> host_points_;
};

}  // namespace cuzk::gpu
