#include "daemon/app/parameters/served_kinds.h"

#include <algorithm>
#include <system_error>

#include "core/filecoin/types/registry.h"

namespace cuzk::daemon {

std::set<std::string, std::less<>> ServedKinds(const engine::EngineStatus& status,
                                               const std::filesystem::path& parameter_directory) {
  std::set<std::string, std::less<>> kinds;
  for (const filecoin::Circuit& circuit : filecoin::Circuits()) {
    const std::string_view name = filecoin::KindInfo(circuit.kind).name;
    if (kinds.contains(name)) continue;
    const auto proves = [&circuit](const engine::DeviceStatus& device) {
      return engine::GetsWork(device.service) && (device.kinds.empty() || device.kinds.contains(circuit.kind));
    };
    if (std::none_of(status.devices.begin(), status.devices.end(), proves)) continue;
    const auto loaded = [&circuit](const prover::ParameterStatus& parameters) {
      return parameters.circuit == circuit.id && parameters.state == prover::ParameterStatus::State::kReady;
    };
    std::error_code error;
    if (std::any_of(status.parameters.begin(), status.parameters.end(), loaded) ||
        std::filesystem::is_regular_file(parameter_directory / circuit.params_file(), error)) {
      kinds.emplace(name);
    }
  }
  return kinds;
}

}  // namespace cuzk::daemon
