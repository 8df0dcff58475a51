#pragma once
// What the driver's management library says of a card at a moment.

#include <cstdint>
#include <optional>
#include <string>

namespace cuzk::daemon {

/// A value is absent where the card or the driver does not tell it.
struct CardReading {
  std::string uuid;
  std::optional<unsigned> temperature_celsius;
  std::optional<double> power_watts, power_limit_watts;
  std::optional<unsigned> sm_clock_mhz, memory_clock_mhz;
  std::optional<uint64_t> pcie_sent_bytes_per_second, pcie_received_bytes_per_second;  ///< by the card
  std::optional<unsigned> pcie_generation, pcie_width;                                 ///< of the link as it is now
};

}  // namespace cuzk::daemon
