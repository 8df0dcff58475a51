#include "gpu/runtime/status.h"

#include <cstring>

#include "core/prover/device/driver_error.h"

namespace cuzk::gpu {

bool IsSticky(cudaError_t error) {
  if (prover::FindDriverError(static_cast<int>(error)) != nullptr) return true;
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
      return true;
    default:
      return false;
  }
}

Status FromCuda(cudaError_t error, const char* what, const char* file, int line) {
  if (error == cudaSuccess) return absl::OkStatus();
  static_cast<void>(cudaGetLastError());
  const char* name = std::strrchr(file, '/');
  const std::string call = StrCat(what, " at ", name != nullptr ? name + 1 : file, ":", line);
  const int code = static_cast<int>(error);
  if (prover::FindDriverError(code) != nullptr) return prover::DriverError(call, code, cudaGetErrorName(error));
  const std::string text = StrCat(call, ": ", code, " (", cudaGetErrorName(error), "): ", cudaGetErrorString(error));
  if (error == cudaErrorMemoryAllocation) return prover::WithDriverCode(absl::ResourceExhaustedError(text), code);
  if (IsSticky(error)) return prover::WithDriverCode(absl::UnavailableError(text), code);
  return prover::WithDriverCode(absl::InternalError(text), code);
}

void Ignore(cudaError_t error) {
  if (error != cudaSuccess) static_cast<void>(cudaGetLastError());
}

}  // namespace cuzk::gpu
