#pragma once
// Parameters as the CPU device keeps them: decoded points in ordinary memory.

#include <memory>

#include "core/algebra/ntt/ntt.h"
#include "core/memory/array.h"
#include "core/prover/device/device.h"

namespace cuzk::prover {

/// What the CPU device computes with. Everything outlives the device's parameters and partitions.
struct CpuContext {
  ThreadPool* pool;
  algebra::Arithmetic arithmetic;
  memory::HostAllocator* allocator;  ///< of every large array
};

class CpuParameters final : public ResidentParameters {
 public:
  /// See Device::Load.
  static StatusOr<std::shared_ptr<const CpuParameters>> Load(const groth16::ParameterFile& file,
                                                             std::shared_ptr<const r1cs::Shape> shape, Plan plan,
                                                             const LoadOptions& options, const CpuContext& context);

  const groth16::VerifyingKey& verifying_key() const override { return key_; }
  const std::shared_ptr<const r1cs::Shape>& shape() const override { return shape_; }
  const Plan& plan() const override { return plan_; }

  const algebra::Domain& domain() const { return domain_; }
  /// Points of a query over G1.
  std::span<const algebra::G1Affine> g1(groth16::Query query) const { return g1_[static_cast<size_t>(query)].span(); }
  std::span<const algebra::G2Affine> b_g2() const { return b_g2_.span(); }

  /// Bytes of the decoded points.
  static uint64_t Bytes(const groth16::SectionCounts& counts);

 private:
  CpuParameters(std::shared_ptr<const r1cs::Shape> shape, Plan plan, algebra::Domain domain)
      : shape_(std::move(shape)), plan_(std::move(plan)), domain_(std::move(domain)) {}

  std::shared_ptr<const r1cs::Shape> shape_;
  Plan plan_;
  algebra::Domain domain_;
  groth16::VerifyingKey key_;
  std::array<memory::Array<algebra::G1Affine>, groth16::kQueries - 1> g1_;  // by Query
  memory::Array<algebra::G2Affine> b_g2_;
};

}  // namespace cuzk::prover
