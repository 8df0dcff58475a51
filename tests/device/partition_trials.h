#pragma once
// What the bench of whole partitions measures, one function a table row.

#include <filesystem>
#include <memory>

#include "core/groth16/section_scalars.h"
#include "gpu/prover/cuda_device.h"
#include "tests/device/proving_line.h"

namespace cuzk::gpu::testing {

/// Proofs with less device memory than there is.
struct CappedTrial {
  uint64_t gigabytes = 24;
  unsigned workers = 2;
  uint32_t times = 10;
  /// "GIGABYTES,WORKERS,TIMES"
  static StatusOr<CappedTrial> Parse(const std::string& text);
};

/// One circuit with parameters made on the card, and a request's partitions. Prints what it measures.
class Trials {
 public:
  /// `request`: a request directory, or KIND:SIZE. Makes the parameters.
  static StatusOr<std::unique_ptr<Trials>> Make(const std::string& request);

  Status Pipeline(uint32_t times);
  Status Kept(r1cs::Layout layout, unsigned workers, uint32_t times);
  Status Pageable(uint32_t times);
  Status Read();
  Status Copies();
  /// Leaves the parameters on no card.
  Status Capped(const CappedTrial& trial);
  Status File(const std::filesystem::path& folder);

 private:
  Trials() = default;
  Status MakeScalars();
  Status MakeParameters(CudaDevice& card, const prover::PlanOptions& plan);
  groth16::GeneratorInput Input() const;
  /// A kept witness of partition 0 in the layout; made at its first use.
  StatusOr<KeptWitness*> Witness(r1cs::Layout layout);
  Status ReadLayout(r1cs::Layout layout);
  /// Verifies and prints.
  Status Report(const std::vector<Proved>& proved);

  ThreadPool pool_{0};
  memory::AlignedAllocator system_;
  Workload work_;
  groth16::ToxicWaste waste_ = groth16::ToxicWaste::Random();
  std::unique_ptr<groth16::SectionScalars> scalars_;
  std::unique_ptr<CudaDevice> card_;
  std::shared_ptr<const prover::ResidentParameters> parameters_;
  r1cs::Layout planned_ = r1cs::Layout::kNarrow;  // of the leases that the parameters' plan has room for
  std::unique_ptr<KeptWitness> kept_[2];          // by layout
};

/// Proves the 2 KiB requests below the folder in turn, on one card with all parameters loaded, two workers; memory of
/// the card and page-locked memory must be the same after the first round and at the end.
Status ProveMixed(const std::filesystem::path& folder, uint32_t times);

}  // namespace cuzk::gpu::testing
