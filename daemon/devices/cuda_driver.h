#pragma once
// The few functions of NVIDIA's driver library that tell whether it can be used, found at run time: works in a build
// without CUDA and on a machine without a driver. Unlike CUDA's runtime, which keeps the first answer of a driver for
// the life of the process, it asks anew each time.

#include <cstdint>
#include <memory>
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
  /// NotFound: no driver library. Unavailable, with the driver's error and number (prover::DriverCodeOf): it does not
  /// start. May be tried again.
  static StatusOr<CudaDriver> Open();

  /// 12040 for CUDA 12.4: the newest that the driver serves.
  int version() const { return version_; }
  /// How many cards the driver shows. Unavailable with the driver's error.
  StatusOr<int> Count() const;
  /// Unavailable with the driver's error.
  StatusOr<std::vector<CardInfo>> Cards() const;
  /// Bytes a second from pinned memory to the card, the best of several copies. Errors as the driver tells them.
  StatusOr<double> PinnedRate(int card) const;

 private:
  struct Functions;
  std::shared_ptr<const Functions> functions_;  // of the library, which is never closed
  int version_ = 0;
};

}  // namespace cuzk::daemon
