#include "gpu/runtime/status.h"

#include <cstring>

namespace cuzk::gpu {

bool IsSticky(cudaError_t error) {
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
    case cudaErrorDevicesUnavailable:
    case cudaErrorNoDevice:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

Status FromCuda(cudaError_t error, const char* what, const char* file, int line) {
  if (error == cudaSuccess) return absl::OkStatus();
  static_cast<void>(cudaGetLastError());
  const char* name = std::strrchr(file, '/');
  std::string text = StrCat(what, " at ", name != nullptr ? name + 1 : file, ":", line, ": ", cudaGetErrorName(error),
                            ", ", cudaGetErrorString(error));
  if (error == cudaErrorMemoryAllocation) return absl::ResourceExhaustedError(text);
  if (IsSticky(error)) return absl::UnavailableError(text);
  return absl::InternalError(text);
}

}  // namespace cuzk::gpu
