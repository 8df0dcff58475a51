#pragma once
// What a circuit will need on a device, computed before it is loaded.

#include <cstdint>
#include <string>
#include <string_view>

namespace cuzk::prover {

/// Where a device keeps the parameters of a circuit.
enum class Placement {
  kHost,           ///< decoded in ordinary memory (the CPU device)
  kResident,       ///< in the device's memory
  kPinnedStreamed  ///< some or all page-locked in host memory, streamed for every proof
};
std::string_view PlacementName(Placement placement);

/// Bytes that proving a circuit takes. Host bytes are charged to the memory budget by the caller that asks the device
/// to load or to start; the witness's own lease is not among them.
struct Plan {
  Placement placement = Placement::kHost;
  uint64_t parameter_host_bytes = 0;  ///< held while the parameters are loaded
  uint64_t parameter_device_bytes = 0;
  uint64_t partition_host_bytes = 0;  ///< for one partition from Start to Finish
  uint64_t partition_device_bytes = 0;
  uint64_t partition_bus_bytes = 0;  ///< from host to device memory for every partition
  uint64_t shared_bus_bytes = 0;     ///< the same, once for all partitions that are proved at once
  unsigned workers = 1;     ///< partitions at once that the plan leaves room for; a device lets no more of them in
  std::string explanation;  ///< one line for the log and `cuzkctl doctor`
};

}  // namespace cuzk::prover
