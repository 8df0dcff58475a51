#include "daemon/ctl/cuda_driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>

#include "daemon/common/loaded_library.h"

namespace cuzk::daemon {

// As the driver's interface declares them: handles are pointers, a device is its number, 0 is success.
struct CudaDriver::Functions {
  int (*init)(unsigned);
  int (*driver_version)(int*);
  int (*device_count)(int*);
  int (*device)(int*, int);
  int (*device_name)(char*, int, int);
  int (*device_memory)(size_t*, int);
  int (*device_attribute)(int*, int, int);
  int (*retain_context)(void**, int);
  int (*release_context)(int);
  int (*set_context)(void*);
  int (*host_allocate)(void**, size_t, unsigned);
  int (*host_free)(void*);
  int (*allocate)(unsigned long long*, size_t);
  int (*free)(unsigned long long);
  int (*copy_to_device)(unsigned long long, const void*, size_t);
  int (*error_name)(int, const char**);
};

namespace {

template <class Functions>
std::string ErrorText(const Functions& functions, const char* call, int error) {
  const char* name = nullptr;
  if (functions.error_name(error, &name) != 0 || !name) name = "unknown error";
  return StrCat(call, ": ", name, " (", error, ")");
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

#define CUZK_DRIVER_CALL(functions, call, ...)                           \
  do {                                                                   \
    if (int error = (functions).call(__VA_ARGS__); error != 0) {         \
      return absl::UnavailableError(ErrorText(functions, #call, error)); \
    }                                                                    \
  } while (false)

StatusOr<CudaDriver> CudaDriver::Open() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return absl::NotFoundError(StrCat("libcuda.so.1 is not there: ", dlerror()));
  auto f = std::make_unique<Functions>();
  bool whole =
      FindFunction(library, "cuInit", f->init) && FindFunction(library, "cuDriverGetVersion", f->driver_version) &&
      FindFunction(library, "cuDeviceGetCount", f->device_count) && FindFunction(library, "cuDeviceGet", f->device) &&
      FindFunction(library, "cuDeviceGetName", f->device_name) &&
      FindFunction(library, "cuDeviceTotalMem_v2", f->device_memory) &&
      FindFunction(library, "cuDeviceGetAttribute", f->device_attribute) &&
      FindFunction(library, "cuDevicePrimaryCtxRetain", f->retain_context) &&
      FindFunction(library, "cuDevicePrimaryCtxRelease_v2", f->release_context) &&
      FindFunction(library, "cuCtxSetCurrent", f->set_context) &&
      FindFunction(library, "cuMemHostAlloc", f->host_allocate) &&
      FindFunction(library, "cuMemFreeHost", f->host_free) && FindFunction(library, "cuMemAlloc_v2", f->allocate) &&
      FindFunction(library, "cuMemFree_v2", f->free) && FindFunction(library, "cuMemcpyHtoD_v2", f->copy_to_device) &&
      FindFunction(library, "cuGetErrorName", f->error_name);
  if (!whole) return absl::UnavailableError("libcuda.so.1 lacks a function: its driver is too old");
  CUZK_DRIVER_CALL(*f, init, 0);
  CudaDriver driver;
  CUZK_DRIVER_CALL(*f, driver_version, &driver.version_);
  driver.functions_ = f.release();
  return driver;
}

StatusOr<std::vector<CardInfo>> CudaDriver::Cards() const {
  constexpr int kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
  int count = 0;
  CUZK_DRIVER_CALL(*functions_, device_count, &count);
  std::vector<CardInfo> cards;
  for (int i = 0; i < count; ++i) {
    int device = 0;
    std::array<char, 256> name{};
    size_t bytes = 0;
    CardInfo card;
    CUZK_DRIVER_CALL(*functions_, device, &device, i);
    CUZK_DRIVER_CALL(*functions_, device_name, name.data(), static_cast<int>(name.size()) - 1, device);
    CUZK_DRIVER_CALL(*functions_, device_memory, &bytes, device);
    CUZK_DRIVER_CALL(*functions_, device_attribute, &card.major, kMajor, device);
    CUZK_DRIVER_CALL(*functions_, device_attribute, &card.minor, kMinor, device);
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
  CUZK_DRIVER_CALL(f, device, &device, card);
  CUZK_DRIVER_CALL(f, retain_context, &context, device);
  Cleanup release([&] { f.release_context(device); });
  CUZK_DRIVER_CALL(f, set_context, context);
  CUZK_DRIVER_CALL(f, host_allocate, &host, kBytes, 0);
  Cleanup free_host([&] { f.host_free(host); });
  std::memset(host, 1, kBytes);
  CUZK_DRIVER_CALL(f, allocate, &memory, kBytes);
  Cleanup free_memory([&] { f.free(memory); });
  double best = 0;
  for (int i = 0; i < kCopies; ++i) {
    auto begin = std::chrono::steady_clock::now();
    CUZK_DRIVER_CALL(f, copy_to_device, memory, host, kBytes);
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::max(best, static_cast<double>(kBytes) / std::max(took.count(), 1e-9));
  }
  return best;
}

#undef CUZK_DRIVER_CALL

}  // namespace cuzk::daemon
