#pragma once
// The device that needs no GPU: transforms, quotient and the five sums on a thread pool.

#include <memory>

#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/thread_pool.h"
#include "core/memory/host_allocator.h"
#include "core/prover/device/device.h"

namespace cuzk::prover {

struct CpuDeviceOptions {
  ThreadPool* pool = nullptr;  ///< all work runs here and in the callers; must outlive the device
  algebra::Arithmetic arithmetic = algebra::Arithmetic::kScalar;
  /// Of leases, parameters and vectors; null: huge-page-friendly memory of the system. Outlives the device.
  memory::HostAllocator* allocator = nullptr;
};

/// The whole computation happens inside Start, one partition at a time (the compute region); Finish returns its result.
/// Boolean scalars are never widened: they are sums of points at set bits. Besides the decoded parameters the largest
/// memory is two vectors of the domain's size. It is never lost.
std::unique_ptr<Device> MakeCpuDevice(const CpuDeviceOptions& options);

}  // namespace cuzk::prover
