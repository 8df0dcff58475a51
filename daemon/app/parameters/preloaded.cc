#include "daemon/app/parameters/preloaded.h"

#include <algorithm>

namespace cuzk::daemon {

Status PreloadedAreHeld(const std::vector<std::string>& circuits, const std::map<std::string, uint64_t>& bytes,
                        const engine::EngineStatus& status) {
  std::string gone, sizes, memory;
  for (const std::string& circuit : circuits) {
    const bool held = std::ranges::any_of(status.parameters, [&](const prover::ParameterStatus& p) {
      return p.circuit == circuit && p.state == prover::ParameterStatus::State::kReady;
    });
    if (!held) gone += StrCat(gone.empty() ? "" : ", ", circuit);
    sizes += StrCat(sizes.empty() ? "" : ", ", circuit, " ", bytes.at(circuit) >> 20, " MiB");
  }
  if (gone.empty()) return absl::OkStatus();
  for (const engine::DeviceStatus& device : status.devices) {
    memory += StrCat(memory.empty() ? "" : ", ", device.name, " ", device.memory.total >> 20, " MiB");
  }
  return absl::ResourceExhaustedError(
      StrCat("params.preload: ", gone, " cannot stay loaded together with the others: the parameters need ", sizes,
             " of device memory, in addition to the memory for proving; the devices have ", memory));
}

}  // namespace cuzk::daemon
