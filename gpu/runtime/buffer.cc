#include "gpu/runtime/buffer.h"

#include <algorithm>

namespace cuzk::gpu {

StatusOr<void*> DeviceMemory::Allocate(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);
  if (fail_after_.load() >= 0 && fail_after_.fetch_sub(1) == 0) {
    return absl::ResourceExhaustedError(StrCat("device memory: ", bytes, " bytes refused by the test"));
  }
  uint64_t before = used_.fetch_add(bytes);
  if (cap_ != 0 && before + bytes > cap_) {
    used_.fetch_sub(bytes);
    return absl::ResourceExhaustedError(StrCat("device memory: ", bytes, " bytes wanted, ",
                                               cap_ - std::min(cap_, before), " of the cap of ", cap_, " left"));
  }
  void* data = nullptr;
  Status status = CUZK_CUDA_STATUS(cudaMalloc(&data, bytes));
  if (!status.ok()) {
    used_.fetch_sub(bytes);
    return Annotate(std::move(status), StrCat("device memory, ", bytes, " bytes"));
  }
  return data;
}

void DeviceMemory::Free(void* data, size_t bytes) noexcept {
  if (data == nullptr) return;
  Ignore(cudaFree(data));
  used_.fetch_sub(std::max<size_t>(bytes, 1));
}

StatusOr<uint64_t> DeviceMemory::Available() const {
  size_t free_bytes = 0, total = 0;
  CUZK_CUDA(cudaMemGetInfo(&free_bytes, &total));
  if (cap_ == 0) return free_bytes;
  uint64_t used = used_.load();
  return std::min<uint64_t>(free_bytes, cap_ > used ? cap_ - used : 0);
}

}  // namespace cuzk::gpu
