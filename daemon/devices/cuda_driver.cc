#include "daemon/devices/cuda_driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>

#include "core/prover/device/driver_error.h"
#include "daemon/common/loaded_library.h"

namespace cuzk::daemon {

// As the driver's interface declares and names them: handles are pointers, a device is its number, 0 is success.
struct CudaDriver::Functions {
  int (*cuInit)(unsigned);
  int (*cuDriverGetVersion)(int*);
  int (*cuDeviceGetCount)(int*);
  int (*cuDeviceGet)(int*, int);
  int (*cuDeviceGetName)(char*, int, int);
  int (*cuDeviceTotalMem)(size_t*, int);
  int (*cuDeviceGetAttribute)(int*, int, int);
  int (*cuDevicePrimaryCtxRetain)(void**, int);
  int (*cuDevicePrimaryCtxRelease)(int);
  int (*cuCtxSetCurrent)(void*);
  int (*cuMemHostAlloc)(void**, size_t, unsigned);
  int (*cuMemFreeHost)(void*);
  int (*cuMemAlloc)(unsigned long long*, size_t);
  int (*cuMemFree)(unsigned long long);
  int (*cuMemcpyHtoD)(unsigned long long, const void*, size_t);
  int (*cuGetErrorName)(int, const char**);
};

namespace {

template <class Functions>
Status Error(const Functions& functions, const char* call, int error) {
  const char* name = nullptr;
  if (functions.cuGetErrorName(error, &name) != 0 || !name) name = "";
  return prover::DriverError(call, error, name);
}

// Ends what it stands for.
class Cleanup {
 public:
  explicit Cleanup(std::function<void()> end) : end_(std::move(end)) {}
  ~Cleanup() { end_(); }
  Cleanup(const Cleanup&) = delete;
  Cleanup& operator=(const Cleanup&) = delete;

 private:
  std::function<void()> end_;
};

}  // namespace

#define CUZK_DRIVER_CALL(functions, call, ...)                                                          \
  do {                                                                                                  \
    if (int error = (functions).call(__VA_ARGS__); error != 0) return Error((functions), #call, error); \
  } while (false)

StatusOr<CudaDriver> CudaDriver::Open() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return absl::NotFoundError(StrCat("libcuda.so.1 is not there: ", dlerror()));
  auto f = std::make_shared<Functions>();
  bool whole = FindFunction(library, "cuInit", f->cuInit) &&
               FindFunction(library, "cuDriverGetVersion", f->cuDriverGetVersion) &&
               FindFunction(library, "cuDeviceGetCount", f->cuDeviceGetCount) &&
               FindFunction(library, "cuDeviceGet", f->cuDeviceGet) &&
               FindFunction(library, "cuDeviceGetName", f->cuDeviceGetName) &&
               FindFunction(library, "cuDeviceTotalMem_v2", f->cuDeviceTotalMem) &&
               FindFunction(library, "cuDeviceGetAttribute", f->cuDeviceGetAttribute) &&
               FindFunction(library, "cuDevicePrimaryCtxRetain", f->cuDevicePrimaryCtxRetain) &&
               FindFunction(library, "cuDevicePrimaryCtxRelease_v2", f->cuDevicePrimaryCtxRelease) &&
               FindFunction(library, "cuCtxSetCurrent", f->cuCtxSetCurrent) &&
               FindFunction(library, "cuMemHostAlloc", f->cuMemHostAlloc) &&
               FindFunction(library, "cuMemFreeHost", f->cuMemFreeHost) &&
               FindFunction(library, "cuMemAlloc_v2", f->cuMemAlloc) &&
               FindFunction(library, "cuMemFree_v2", f->cuMemFree) &&
               FindFunction(library, "cuMemcpyHtoD_v2", f->cuMemcpyHtoD) &&
               FindFunction(library, "cuGetErrorName", f->cuGetErrorName);
  if (!whole) return absl::UnavailableError("libcuda.so.1 lacks a function: its driver is too old");
  CUZK_DRIVER_CALL(*f, cuInit, 0);
  CudaDriver driver;
  CUZK_DRIVER_CALL(*f, cuDriverGetVersion, &driver.version_);
  driver.functions_ = std::move(f);
  return driver;
}

StatusOr<int> CudaDriver::Count() const {
  int count = 0;
  CUZK_DRIVER_CALL(*functions_, cuDeviceGetCount, &count);
  return count;
}

StatusOr<std::vector<CardInfo>> CudaDriver::Cards() const {
  constexpr int kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
  CUZK_ASSIGN_OR_RETURN(const int count, Count());
  std::vector<CardInfo> cards;
  for (int i = 0; i < count; ++i) {
    int device = 0;
    std::array<char, 256> name{};
    size_t bytes = 0;
    CardInfo card;
    CUZK_DRIVER_CALL(*functions_, cuDeviceGet, &device, i);
    CUZK_DRIVER_CALL(*functions_, cuDeviceGetName, name.data(), static_cast<int>(name.size()) - 1, device);
    CUZK_DRIVER_CALL(*functions_, cuDeviceTotalMem, &bytes, device);
    CUZK_DRIVER_CALL(*functions_, cuDeviceGetAttribute, &card.major, kMajor, device);
    CUZK_DRIVER_CALL(*functions_, cuDeviceGetAttribute, &card.minor, kMinor, device);
    card.name = name.data();
    card.memory_bytes = bytes;
    cards.push_back(std::move(card));
  }
  return cards;
}

StatusOr<double> CudaDriver::PinnedRate(int card) const {
  constexpr size_t kBytes = size_t{256} << 20;
  constexpr int kCopies = 4;
  const Functions& f = *functions_;
  int device = 0;
  void *context = nullptr, *host = nullptr;
  unsigned long long memory = 0;
  CUZK_DRIVER_CALL(f, cuDeviceGet, &device, card);
  CUZK_DRIVER_CALL(f, cuDevicePrimaryCtxRetain, &context, device);
  Cleanup release([&] { f.cuDevicePrimaryCtxRelease(device); });
  CUZK_DRIVER_CALL(f, cuCtxSetCurrent, context);
  CUZK_DRIVER_CALL(f, cuMemHostAlloc, &host, kBytes, 0);
  Cleanup free_host([&] { f.cuMemFreeHost(host); });
  std::memset(host, 1, kBytes);
  CUZK_DRIVER_CALL(f, cuMemAlloc, &memory, kBytes);
  Cleanup free_memory([&] { f.cuMemFree(memory); });
  double best = 0;
  for (int i = 0; i < kCopies; ++i) {
    auto begin = std::chrono::steady_clock::now();
    CUZK_DRIVER_CALL(f, cuMemcpyHtoD, memory, host, kBytes);
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::max(best, static_cast<double>(kBytes) / std::max(took.count(), 1e-9));
  }
  return best;
}

#undef CUZK_DRIVER_CALL

}  // namespace cuzk::daemon
