// A double of NVIDIA's driver library (libcuda.so.1) with one card, for `cuzkctl doctor`. The variable
// CUDA_DOUBLE_FAILS names a function that fails; CUDA_DOUBLE_CODE is the driver's number with which cuInit fails;
// CUDA_DOUBLE_SLOW makes copies slow; CUDA_DOUBLE_CAPABILITY, such as 70, is the card's compute capability.

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr int kNoDevice = 100, kOutOfMemory = 2;

bool Fails(std::string_view function) {
  const char* name = std::getenv("CUDA_DOUBLE_FAILS");
  return name && function == name;
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  if (const char* code = std::getenv("CUDA_DOUBLE_CODE")) return std::atoi(code);
  return Fails("cuInit") ? kNoDevice : 0;
}

int cuDriverGetVersion(int* version) {
  *version = Fails("cuDriverGetVersion") ? 11000 : 99000;
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = Fails("cuDeviceGetCount") ? 0 : 1;
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}

int cuDeviceGetName(char* name, int length, int) {
  std::strncpy(name, "Double of a card", static_cast<size_t>(length));
  return 0;
}

int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = size_t{8} << 30;
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int kMajor = 75, kMinor = 76;
  const char* given = std::getenv("CUDA_DOUBLE_CAPABILITY");
  const int capability = given != nullptr ? std::atoi(given) : 90;
  *value = attribute == kMajor ? capability / 10 : attribute == kMinor ? capability % 10 : 0;
  return 0;
}

int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = nullptr;
  return 0;
}

int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void*) { return 0; }

int cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  if (Fails("cuMemHostAlloc")) return kOutOfMemory;
  *memory = std::malloc(bytes);
  return *memory ? 0 : kOutOfMemory;
}

int cuMemFreeHost(void* memory) {
  std::free(memory);
  return 0;
}

int cuMemAlloc_v2(unsigned long long* address, size_t) {
  *address = 1;
  return 0;
}

int cuMemFree_v2(unsigned long long) { return 0; }

int cuMemcpyHtoD_v2(unsigned long long, const void*, size_t) {
  usleep(std::getenv("CUDA_DOUBLE_SLOW") ? 50'000 : 0);
  return 0;
}

int cuGetErrorName(int error, const char** name) {
  *name = error == kNoDevice ? "CUDA_ERROR_NO_DEVICE" : error == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : nullptr;
  return *name != nullptr ? 0 : 1;  // as a library that is older than the error
}

}  // extern "C"
