#include "gpu/runtime/pinned_allocator.h"

namespace cuzk::gpu {

StatusOr<std::byte*> PinnedAllocator::Allocate(size_t bytes) {
  DeviceGuard guard(device_);
  CUZK_RETURN_IF_ERROR(guard.status());
  void* data = nullptr;
  Status status = CUZK_CUDA_STATUS(cudaHostAlloc(&data, bytes, cudaHostAllocPortable));
  if (!status.ok()) return Annotate(std::move(status), StrCat("page-locked memory, ", bytes, " bytes"));
  used_.fetch_add(bytes);
  return static_cast<std::byte*>(data);
}

void PinnedAllocator::Free(std::byte* data, size_t bytes) noexcept {
  if (data == nullptr) return;
  DeviceGuard guard(device_);
  Ignore(cudaFreeHost(data));
  used_.fetch_sub(bytes);
}

}  // namespace cuzk::gpu
