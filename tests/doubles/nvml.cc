// A double of NVIDIA's management library (libnvidia-ml.so.1) with a card of the UUID "GPU-double", and the made-up
// cards "GPU-double-0" to "GPU-double-7" (scripted_cards.h). Each is 61 degrees warm, takes 512 of 700 W, and has a bus
// of generation 5 and 16 lanes. The variable NVML_DOUBLE_FAILS names a function that fails; NVML_DOUBLE_EVENTS lists
// what the waits end with, one after another: the code of an Xid of GPU-double, "N:CODE" for one of GPU-double-N, "lost"
// (a card is lost) or "broken" (another error). After that every wait ends with its time.

#include <unistd.h>

#include <cstdlib>
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

int card, numbered[8], set;  // their addresses are the handles

int Result(std::string_view function) {
  const char* name = std::getenv("NVML_DOUBLE_FAILS");
  return name != nullptr && function == name ? kNotSupported : 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return Result("nvmlInit_v2"); }

int nvmlShutdown() { return 0; }

int nvmlDeviceGetHandleByUUID(const char* uuid, void** out) {
  constexpr std::string_view kNumbered = "GPU-double-";
  const std::string_view name(uuid);
  const bool is_numbered = name.starts_with(kNumbered) && name.size() == kNumbered.size() + 1;
  const int number = is_numbered ? name.back() - '0' : -1;
  if (number >= 0 && number < 8) {
    *out = &numbered[number];
    return 0;
  }
  *out = &card;
  return name == "GPU-double" ? 0 : kNotFound;
}

int nvmlEventSetCreate(void** out) {
  *out = &set;
  return Result("nvmlEventSetCreate");
}

int nvmlEventSetFree(void* events) { return events == &set ? 0 : kNotFound; }

int nvmlDeviceRegisterEvents(void* of, unsigned long long types, void* events) {
  const bool known = of == &card || (of >= &numbered[0] && of <= &numbered[7]);
  if (!known || types != kXidEvent || events != &set) return kNotFound;
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
  const size_t colon = next.find(':');
  void* of = colon == next.npos ? &card : &numbered[next[0] - '0'];
  const char* code = next.c_str() + (colon == next.npos ? 0 : colon + 1);
  *event = {of, kXidEvent, std::strtoull(code, nullptr, 10), ~0u, ~0u};
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
