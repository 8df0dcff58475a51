#pragma once
// The device that needs no GPU: transforms, quotient and the five sums on a thread pool.

#include <memory>

#include "core/algebra/cpu_arithmetic.h"
#include "core/base/thread_pool.h"
#include "core/prover/device.h"

namespace cuzk::prover {

struct CpuDeviceOptions {
  ThreadPool* pool = nullptr;  ///< all work runs here and in the callers; must outlive the device
  algebra::Arithmetic arithmetic = algebra::Arithmetic::kScalar;
};

/// The whole computation happens inside Start, one partition at a time (the compute region); Finish hands it over.
/// Boolean scalars are never widened: they are sums of bases at set bits. Two vectors of the domain's size are the
/// largest memory, plus the decoded parameters.
std::unique_ptr<Device> MakeCpuDevice(const CpuDeviceOptions& options);

}  // namespace cuzk::prover
