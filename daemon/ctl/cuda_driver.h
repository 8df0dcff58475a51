#pragma once
// The few functions of NVIDIA's driver library that a diagnosis needs, found at run time: works in a build without
// CUDA and on a machine without a driver.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"

namespace cuzk::daemon {

struct CardInfo {
  std::string name;
  uint64_t memory_bytes = 0;
  int major = 0, minor = 0;  ///< compute capability
};

class CudaDriver {
 public:
  /// NotFound: no driver library. Unavailable, with the driver's error: it does not start.
  static StatusOr<CudaDriver> Open();

  /// 12040 for CUDA 12.4: the newest that the driver serves.
  int version() const { return version_; }
  /// Unavailable with the driver's error.
  StatusOr<std::vector<CardInfo>> Cards() const;
  /// Bytes a second from pinned memory to the card, the best of several copies. Errors as the driver tells them.
  StatusOr<double> PinnedRate(int card) const;

 private:
  struct Functions;
  const Functions* functions_ = nullptr;  // lives as long as the process: the library is never closed
  int version_ = 0;
};

}  // namespace cuzk::daemon
