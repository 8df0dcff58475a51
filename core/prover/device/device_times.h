#pragma once
// What a partition's timeline says about the device's time: computing, copying and waiting are different things.

#include "core/base/clock.h"
#include "core/prover/device/device.h"

namespace cuzk::prover {

struct DeviceTimes {
  Duration kernels{};         ///< in which a transform or a sum ran; of moments with several of them, once
  Duration compute_wait{};    ///< for the compute region, which another worker of the device had
  Duration copy_to_device{};  ///< of the witness
  Duration copy_to_host{};    ///< of the results
};

DeviceTimes TimesOf(const Timeline& timeline);

}  // namespace cuzk::prover
