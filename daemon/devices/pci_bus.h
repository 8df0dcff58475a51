#pragma once
// Which NVIDIA cards the machine has, as its PCI bus shows them: also those that no driver serves.

#include <filesystem>
#include <string>
#include <vector>

namespace cuzk::daemon {

/// Where Linux shows the devices of the bus.
inline constexpr char kPciDevices[] = "/sys/bus/pci/devices";

/// The addresses ("0000:3b:00.0") of NVIDIA's graphics and compute cards below `devices`, ascending. A card that is
/// bound to vfio-pci belongs to a virtual machine and is not listed. Empty where there is no such folder.
std::vector<std::string> NvidiaCards(const std::filesystem::path& devices = kPciDevices);

}  // namespace cuzk::daemon
