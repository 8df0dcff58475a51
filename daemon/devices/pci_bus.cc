#include "daemon/devices/pci_bus.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <system_error>

namespace cuzk::daemon {
namespace {

constexpr uint32_t kNvidia = 0x10de;
constexpr uint32_t kDisplay = 0x03;  // the upper byte of the class: graphics cards and compute cards alike

/// The number in a file such as "0x10de\n"; 0 if there is none.
uint32_t NumberIn(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string prefix(2, '\0'), digits;
  if (!file.read(prefix.data(), 2) || prefix != "0x" || !(file >> digits)) return 0;
  uint32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number;
}

bool IsPassedThrough(const std::filesystem::path& device) {
  std::error_code error;
  return std::filesystem::read_symlink(device / "driver", error).filename() == "vfio-pci";
}

}  // namespace

std::vector<std::string> NvidiaCards(const std::filesystem::path& devices) {
  std::vector<std::string> cards;
  std::error_code error;
  for (std::filesystem::directory_iterator at(devices, error), end; !error && at != end; at.increment(error)) {
    const std::filesystem::path& device = at->path();
    if (NumberIn(device / "vendor") != kNvidia || NumberIn(device / "class") >> 16 != kDisplay) continue;
    if (!IsPassedThrough(device)) cards.push_back(device.filename().string());
  }
  std::sort(cards.begin(), cards.end());
  return cards;
}

}  // namespace cuzk::daemon
