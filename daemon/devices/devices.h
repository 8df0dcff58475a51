#pragma once
// Which devices prove: the choice that only the composition roots make.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/status.h"
#include "core/base/thread_pool.h"
#include "core/groth16/generator.h"
#include "core/prover/device.h"

namespace cuzk::daemon {

/// A card that does not pass its self-test.
struct LeftOut {
  int ordinal = 0;
  std::string uuid;
  std::string why;  ///< a sentence for the log
};

struct DeviceChoice {
  std::vector<std::unique_ptr<prover::Device>> devices;
  std::string explanation;  ///< for the log: what was picked and why
  std::vector<LeftOut> left_out;
};

/// `use` is the setting devices.use. The CPU device works on `pool`, which must outlive it. Every card computes
/// something first whose result is known. Unavailable: "gpu", but this build or this machine has none that computes
/// right.
StatusOr<DeviceChoice> PickDevices(std::string_view use, algebra::Arithmetic arithmetic, ThreadPool& pool);

/// For --check-config: what stands in the way of `use` on this machine now. Makes no device.
std::vector<std::string> DeviceNotes(std::string_view use);

/// What multiplies for `params make --device`. Unavailable: this build or this machine has no card.
StatusOr<std::unique_ptr<groth16::BaseMultiplier>> CardMultiplier();

}  // namespace cuzk::daemon
