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

/// Settings of the section devices.
struct DeviceWishes {
  std::string use = "auto";        ///< "auto", "gpu" or "cpu"
  std::vector<std::string> cards;  ///< numbers or UUIDs; empty: all
  uint64_t memory_bytes = 0;       ///< the most of each card; 0: all
};

/// The CPU device works on `pool`, which must outlive it. Every card computes something first whose result is known.
/// Unavailable: use is "gpu", but this build or this machine has none that computes right. NotFound: one of
/// wishes.cards is not here.
StatusOr<DeviceChoice> PickDevices(const DeviceWishes& wishes, algebra::Arithmetic arithmetic, ThreadPool& pool);

/// Which of `there`, by number, the wishes name, ascending; NotFound with what is there if one of them is not.
StatusOr<std::vector<int>> CardsToUse(const std::vector<std::string>& wishes,
                                      const std::vector<prover::DeviceIdentity>& there);

/// For --check-config: what stands in the way of `use` on this machine now. Makes no device.
std::vector<std::string> DeviceNotes(std::string_view use);

/// What multiplies for `params make --device`. Unavailable: this build or this machine has no card.
StatusOr<std::unique_ptr<groth16::BaseMultiplier>> CardMultiplier();

}  // namespace cuzk::daemon
