#include "gpu/prover/card_identity.h"

#include <fstream>
#include <iterator>
#include <sstream>

#include "core/base/text.h"

namespace cuzk::gpu {

std::string CardUuid(const cudaUUID_t& uuid) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

std::string DriverVersion(std::string_view text) {
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const bool version = word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == word.npos;
    if (version) return word;
  }
  return "";
}

prover::DeviceIdentity IdentityOf(const cudaDeviceProp& properties) {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return {.uuid = CardUuid(properties.uuid),
          .driver = DriverVersion(text),
          .compute_capability = StrCat(properties.major, ".", properties.minor)};
}

}  // namespace cuzk::gpu
