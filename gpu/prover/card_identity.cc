#include "gpu/prover/card_identity.h"

#include <fstream>
#include <iterator>
#include <sstream>

#include "core/base/bytes.h"
#include "gpu/runtime/status.h"

namespace cuzk::gpu {

std::string CardUuid(const cudaUUID_t& uuid) {
  std::string text = ToHex(AsBytes(std::string_view(uuid.bytes, sizeof uuid.bytes)));
  for (size_t dash : {20, 16, 12, 8}) text.insert(dash, 1, '-');
  return StrCat("GPU-", text);
}

std::string UuidOfCard(int ordinal) {
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, ordinal);
  Ignore(error);
  return error == cudaSuccess ? CardUuid(properties.uuid) : "";
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
