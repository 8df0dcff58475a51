#pragma once
// What a card is called: the names under which the driver's own tools and exporters know it.

#include <cuda_runtime.h>

#include <string>
#include <string_view>

#include "core/prover/device/device.h"

namespace cuzk::gpu {

/// "GPU-" and the UUID in groups, as nvidia-smi prints it.
std::string CardUuid(const cudaUUID_t& uuid);

/// The version in the text of /proc/driver/nvidia/version, such as "580.95.05"; empty if there is none.
std::string DriverVersion(std::string_view text);

/// CardUuid of the card with that number; empty if the driver does not tell.
std::string UuidOfCard(int ordinal);

prover::DeviceIdentity IdentityOf(const cudaDeviceProp& properties);

}  // namespace cuzk::gpu
