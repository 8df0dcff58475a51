#include "daemon/devices.h"

#include "core/prover/cpu_device.h"

namespace cuzk::daemon {

StatusOr<DeviceChoice> PickDevices(std::string_view use, algebra::Arithmetic arithmetic, ThreadPool& pool) {
  constexpr std::string_view kWhyNoGpu = "this build has no CUDA back end";
  if (use == "gpu") return absl::UnavailableError(StrCat("devices.use = \"gpu\": ", kWhyNoGpu));
  DeviceChoice choice;
  choice.devices.push_back(prover::MakeCpuDevice({.pool = &pool, .arithmetic = arithmetic}));
  choice.explanation = StrCat("proving on the CPU device, ", choice.devices[0]->name());
  if (use == "auto") choice.explanation += StrCat(", because ", kWhyNoGpu);
  return choice;
}

}  // namespace cuzk::daemon
