#pragma once
// The one place where an answer of the CUDA runtime becomes a Status.

#include <cuda_runtime_api.h>

#include "core/base/status.h"

namespace cuzk::gpu {

/// OK; ResourceExhausted for memory; Unavailable for an error after which the context is of no use any more (see
/// IsSticky); Internal for the rest. The text names the call, file and line, and has the driver's own number, which
/// prover::DriverCodeOf reads, and the cure where core/prover/device/driver_error.h has one. Clears the runtime's last
/// error, which a sticky one survives.
Status FromCuda(cudaError_t error, const char* what, const char* file, int line);

/// Errors that every later call on the device will repeat: illegal accesses, failed assertions, hardware trouble, and
/// those of a driver that cannot be used.
bool IsSticky(cudaError_t error);

/// For calls while something is destroyed, whose errors nothing can be done about. Clears the runtime's last error, so
/// that the next launch is not blamed for it.
void Ignore(cudaError_t error);

}  // namespace cuzk::gpu

#define CUZK_CUDA_STATUS(call) ::cuzk::gpu::FromCuda((call), #call, __FILE__, __LINE__)

/// Every call of the runtime goes through this: returns its error from the enclosing function.
#define CUZK_CUDA(call) CUZK_RETURN_IF_ERROR(CUZK_CUDA_STATUS(call))

/// After a kernel launch.
#define CUZK_CUDA_LAUNCHED(name) \
  CUZK_RETURN_IF_ERROR(::cuzk::gpu::FromCuda(cudaGetLastError(), "launch of " name, __FILE__, __LINE__))
