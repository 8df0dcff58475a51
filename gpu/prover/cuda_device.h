#pragma once
// The CUDA back end: prover::Device on one NVIDIA card.

#include <memory>
#include <vector>

#include "core/groth16/section_scalars.h"
#include "core/prover/device/device.h"
#include "gpu/prover/placement.h"
#include "gpu/runtime/buffer.h"

namespace cuzk::gpu {

struct CudaDeviceOptions {
  int ordinal = 0;
  ThreadPool* pool = nullptr;  ///< copies files while parameters are loaded; outlives the device
  uint64_t memory_cap = 0;     ///< device bytes that may be used at most; 0 = all
};

/// The interface, and what tests and benches reach for.
class CudaDevice : public prover::Device {
 public:
  /// All device allocations; its FailAfter makes one fail.
  virtual DeviceMemory& device_memory() = 0;
  /// MakePlan with everything that the back end decides.
  virtual StatusOr<CircuitPlan> PlanInDetail(const r1cs::Shape& shape, const prover::PlanOptions& options) const = 0;
  /// Partitions that wait for the compute region.
  virtual size_t compute_region_waiting() const = 0;
  /// Bytes that partitions have copied to the card so far: witnesses and streamed points.
  virtual uint64_t copied_bytes() const = 0;
  /// Treats `status` as if the card had answered it: Unavailable makes the device lost.
  virtual Status Observe(Status status) = 0;
  /// Development parameters made on the card and left there, without a file: what full-size benches prove with. The
  /// shape is the input's. Errors as of Load, and those of groth16::SectionScalars::Make.
  virtual StatusOr<std::shared_ptr<const prover::ResidentParameters>> MakeParameters(
      const groth16::SectionScalars& scalars, std::shared_ptr<const r1cs::Shape> shape,
      const prover::LoadOptions& options) = 0;
};

/// Unavailable if there is no such card or no driver.
StatusOr<std::unique_ptr<CudaDevice>> MakeCudaDevice(const CudaDeviceOptions& options);

/// Number of cards that the driver shows. Unavailable, with the driver's number (prover::DriverCodeOf), if it shows
/// none or cannot be used. May be asked again: a driver that comes up later is found.
StatusOr<int> CudaDeviceCount();

}  // namespace cuzk::gpu
