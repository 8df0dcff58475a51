#include "gpu/runtime/card_limits.h"

#include "gpu/runtime/status.h"

namespace cuzk::gpu {

StatusOr<prover::CardLimits> CurrentCardLimits() {
  int device = 0;
  CUZK_CUDA(cudaGetDevice(&device));
  cudaDeviceProp properties;
  CUZK_CUDA(cudaGetDeviceProperties(&properties, device));
  prover::CardLimits limits;
  limits.memory_bytes = properties.totalGlobalMem;
  limits.multiprocessors = static_cast<uint32_t>(properties.multiProcessorCount);
  limits.multiprocessor_threads = static_cast<uint32_t>(properties.maxThreadsPerMultiProcessor);
  limits.shared_multiprocessor_bytes = static_cast<uint32_t>(properties.sharedMemPerMultiprocessor);
  limits.shared_block_bytes = static_cast<uint32_t>(properties.sharedMemPerBlockOptin);
  limits.shared_reserve_bytes = static_cast<uint32_t>(properties.reservedSharedMemPerBlock);
  return limits;
}

}  // namespace cuzk::gpu
