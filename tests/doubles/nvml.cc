// A double of NVIDIA's management library (libnvidia-ml.so.1) with one card, of the UUID "GPU-double", which is 61
// degrees warm, takes 512 of 700 W, and has a bus of generation 5 and 16 lanes. The variable NVML_DOUBLE_FAILS names a
// function that fails; NVML_DOUBLE_EVENTS lists what the waits end with, one after another: the code of an Xid, "lost"
// (a card is lost) or "broken" (another error). After that every wait ends with its time.

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>

namespace {

constexpr int kNotSupported = 3, kNotFound = 6, kTimeout = 10, kLost = 15, kUnknown = 999;
constexpr unsigned long long kXidEvent = 8;

struct Event {
  void* card;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

int card, set;  // their addresses are the handles

int Result(std::string_view function) {
  const char* name = std::getenv("NVML_DOUBLE_FAILS");
  return name != nullptr && function == name ? kNotSupported : 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return Result("nvmlInit_v2"); }

int nvmlShutdown() { return 0; }

int nvmlDeviceGetHandleByUUID(const char* uuid, void** out) {
  *out = &card;
  return std::strcmp(uuid, "GPU-double") == 0 ? 0 : kNotFound;
}

int nvmlEventSetCreate(void** out) {
  *out = &set;
  return Result("nvmlEventSetCreate");
}

int nvmlEventSetFree(void* events) { return events == &set ? 0 : kNotFound; }

int nvmlDeviceRegisterEvents(void* of, unsigned long long types, void* events) {
  if (of != &card || types != kXidEvent || events != &set) return kNotFound;
  return Result("nvmlDeviceRegisterEvents");
}

int nvmlEventSetWait_v2(void*, Event* event, unsigned milliseconds) {
  static std::istringstream events(std::getenv("NVML_DOUBLE_EVENTS") != nullptr ? std::getenv("NVML_DOUBLE_EVENTS")
                                                                                : "");
  std::string next;
  if (!std::getline(events, next, ',')) {
    usleep(milliseconds * 1000);
    return kTimeout;
  }
  if (next == "lost") return kLost;
  if (next == "broken") return kUnknown;
  *event = {&card, kXidEvent, std::strtoull(next.c_str(), nullptr, 10), ~0u, ~0u};
  return 0;
}

int nvmlDeviceGetTemperature(void*, int, unsigned* out) {
  *out = 61;
  return Result("nvmlDeviceGetTemperature");
}

int nvmlDeviceGetClockInfo(void*, int type, unsigned* out) {
  *out = type == 1 ? 1980 : 2619;
  return Result("nvmlDeviceGetClockInfo");
}

int nvmlDeviceGetPcieThroughput(void*, int counter, unsigned* out) {
  *out = counter == 1 ? 12u << 20 : 3u << 10;
  return Result("nvmlDeviceGetPcieThroughput");
}

int nvmlDeviceGetPowerUsage(void*, unsigned* out) {
  *out = 512'000;
  return Result("nvmlDeviceGetPowerUsage");
}

int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* out) {
  *out = 700'000;
  return Result("nvmlDeviceGetEnforcedPowerLimit");
}

int nvmlDeviceGetCurrPcieLinkGeneration(void*, unsigned* out) {
  *out = 5;
  return Result("nvmlDeviceGetCurrPcieLinkGeneration");
}

int nvmlDeviceGetCurrPcieLinkWidth(void*, unsigned* out) {
  *out = 16;
  return Result("nvmlDeviceGetCurrPcieLinkWidth");
}

const char* nvmlErrorString(int error) {
  if (error == kNotSupported) return "Not Supported";
  return error == kNotFound ? "Not Found" : "Unknown Error";
}

}  // extern "C"
