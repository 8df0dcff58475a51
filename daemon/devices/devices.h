#pragma once
// Which devices prove: the choice that only the composition roots make.

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/status.h"
#include "core/base/thread_pool.h"
#include "core/filecoin/types/registry.h"
#include "core/groth16/generator.h"
#include "core/prover/device/device.h"
#include "daemon/devices/card_driver.h"
#include "daemon/devices/pci_bus.h"

namespace cuzk::daemon {

/// A card that cannot be opened, or that does not pass its self-test.
struct LeftOut {
  int ordinal = 0;
  std::string uuid;  ///< empty if the driver does not tell
  std::string why;   ///< a sentence for the log
};

struct DeviceChoice {
  std::vector<std::unique_ptr<prover::Device>> devices;
  std::string explanation;  ///< for the log: what was picked and why
  std::vector<LeftOut> left_out;
  bool fallback_to_cpu = false;  ///< the CPU proves for want of a card, and not because it was asked for
};

/// Settings of the section devices.
struct DeviceWishes {
  std::string use = "auto";        ///< "auto", "gpu" or "cpu"
  std::vector<std::string> cards;  ///< numbers or UUIDs; empty: all
  uint64_t memory_bytes = 0;       ///< the most of each card; 0: all
};

/// A row of devices.kinds.
struct KindsOfCard {
  std::string card;  ///< number or UUID
  std::set<filecoin::Kind> kinds;
};
/// InvalidArgument says what is wrong: "0=window+winning" is right.
StatusOr<std::vector<KindsOfCard>> ParseKinds(const std::vector<std::string>& rows);
/// What each device proves, by its place; empty: every kind. Unavailable, with what is there, if a row is of no device.
StatusOr<std::vector<std::set<filecoin::Kind>>> KindsOf(const std::vector<std::unique_ptr<prover::Device>>& devices,
                                                        const std::vector<KindsOfCard>& rows);

/// Where cards are looked for.
struct DeviceSources {
  CardDriver* driver = nullptr;             ///< null: this build has no CUDA back end
  std::filesystem::path pci = kPciDevices;  ///< the PCI bus
};

/// One look at the machine.
struct DeviceSearch {
  /// Unavailable, with the driver's number where it told one: what was asked for cannot be had now.
  StatusOr<DeviceChoice> choice;
  size_t present = 0;     ///< NVIDIA cards that the PCI bus shows
  bool may_come = false;  ///< a later look may find more: there is a card, and this build could use it
};

/// `wishes.use`: "cpu"; "gpu"; "auto", which takes the CPU only where the PCI bus shows no card and the driver neither,
/// and no card was named. Every card computes something first whose result is known; one that cannot be opened or
/// computes wrong is left out, and the others are taken. The devices work on `pool`, which must outlive them.
DeviceSearch FindDevices(const DeviceWishes& wishes, const DeviceSources& sources, algebra::Arithmetic arithmetic,
                         ThreadPool& pool);

/// Which cards the wishes name, ascending; `uuids` are those of the cards that are there, by number. Unavailable, with
/// what is there, if one of the wishes is not.
StatusOr<std::vector<int>> CardsToUse(const std::vector<std::string>& wishes, const std::vector<std::string>& uuids);

/// For --check-config: what stands in the way of `use` on this machine now. Makes no device.
std::vector<std::string> DeviceNotes(std::string_view use, const DeviceSources& sources);

/// What multiplies for `params make --device`. Unavailable: this build or this machine has no card.
StatusOr<std::unique_ptr<groth16::BaseMultiplier>> CardMultiplier();

}  // namespace cuzk::daemon
