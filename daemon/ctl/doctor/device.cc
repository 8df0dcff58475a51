// doctor: what proves.

#include <cstdlib>

#include "core/circuit/circuit.h"
#include "core/filecoin/partition.h"
#include "daemon/common/card_code.h"
#include "daemon/common/kernel_file.h"
#include "daemon/common/version.h"
#include "daemon/ctl/doctor/finding.h"
#include "daemon/devices/cuda_driver.h"
#include "daemon/devices/fit.h"
#include "daemon/devices/pci_bus.h"

namespace cuzk::daemon {
namespace {

using Level = Finding::Level;

// The kernel's part of the driver; empty if it is not loaded.
std::string KernelDriver(const std::filesystem::path& root) {
  std::string version = KernelFile(root / "sys/module/nvidia/version");
  while (!version.empty() && version.back() == '\n') version.pop_back();
  return version;
}

// Without a card that can be used: right where the CPU is to prove, wrong where it is not.
Finding NoCard(const std::filesystem::path& root, const Settings& settings, const std::string& said,
               const std::string& advice) {
  std::string use = settings.Text("devices.use");
  const size_t present = NvidiaCards(root / "sys/bus/pci/devices").size();
  if (use == "auto" && present > 0) {
    const std::string why = StrCat("; NVIDIA cards on the PCI bus: ", present, ", and the daemon waits for them");
    return {Level::kFail, "driver", said + why, advice};
  }
  if (use == "gpu") return {Level::kFail, "driver", said + "; devices.use is gpu", advice};
  if (use == "cpu") return {Level::kOk, "driver", said + "; devices.use is cpu", ""};
  return {Level::kWarn, "driver", said + "; proofs are computed by the CPU, which is slow at production sizes", advice};
}

std::string CudaText(int version) { return StrCat(version / 1000, ".", version % 1000 / 10); }

Finding Driver(const CudaDriver& driver, const std::string& kernel) {
  std::string said = StrCat(kernel.empty() ? "version unknown" : kernel, ", serves CUDA ", CudaText(driver.version()));
  std::string built(Build().cuda);
  if (built == "none") {
    return {Level::kWarn, "driver", said + "; this build has no CUDA back end", "install a build with CUDA"};
  }
  if (std::atoi(built.c_str()) > driver.version() / 1000) {
    return {Level::kFail, "driver", StrCat(said, "; this build needs CUDA ", built), "install a newer driver"};
  }
  return {Level::kOk, "driver", said};
}

/// Shared memory of a multiprocessor, by compute capability.
uint64_t SharedBytes(const CardInfo& card) {
  const int capability = 10 * card.major + card.minor;
  if (capability < 80) return 64 << 10;
  if (capability == 80 || capability == 87) return 164 << 10;
  return card.major == 9 || card.major == 10 ? 228 << 10 : 100 << 10;
}

/// What becomes of the circuits whose parameters are here: alone on the card, with what the driver leaves of it.
Findings Fits(const std::string& name, const CardInfo& card, const Settings& settings) {
  constexpr uint64_t kDriver = 600 << 20;  // context and code
  if (card.memory_bytes <= kDriver) return {};
  const FitCard fits{card.memory_bytes - kDriver, SharedBytes(card),
                     static_cast<unsigned>(settings.Integer("devices.workers"))};
  Findings findings;
  for (const filecoin::Circuit& circuit : filecoin::Circuits()) {
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::path(settings.Text("params.directory")) / circuit.params_file(),
                                 error)) {
      continue;
    }
    auto shape = circuit::MakeShape(filecoin::SpecOf(circuit));
    if (!shape.ok()) continue;
    const auto fit = FitCircuit(**shape, PartitionsOf(circuit), fits);
    if (!fit.ok()) continue;  // a build without CUDA has been told of
    Finding finding{
        Finding::Level::kOk, StrCat(name, " ", circuit.id),
        StrCat(PlaceName(fit->place), ", ", fit->device_bytes >> 20, " MiB on the card, ", fit->host_bytes >> 20,
               " MiB page-locked, ", fit->proof_bus_bytes >> 20, " MiB over the bus for a proof")};
    if (fit->place == CircuitFit::Place::kNo)
      finding = {Level::kFail, finding.check, fit->explanation, "use a card with more memory"};
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings Card(const CudaDriver& driver, int number, const CardInfo& card) {
  const BuildInfo build = Build();
  std::string name = StrCat("card ", number);
  Findings findings{
      {Level::kOk, name,
       StrCat(card.name, ", ", card.memory_bytes >> 20, " MiB, compute capability ", card.major, ".", card.minor)}};
  if (std::string lack = LackOfCode(build.architectures, card.name, {card.major, card.minor});
      build.cuda != "none" && !lack.empty()) {
    findings.push_back({Level::kFail, name + " code", lack,
                        "install the package, which has code for every card, or build with "
                        "-DCUZK_CUDA_ARCHITECTURES=ALL"});
  }
  constexpr double kSlow = 10e9;  // a PCIe 3.0 slot with 16 lanes gives 12
  StatusOr<double> rate = driver.PinnedRate(number);
  if (!rate.ok()) {
    findings.push_back({Level::kFail, name + " pinned memory", StrCat(rate.status().message()),
                        "dmesg shows the driver's messages, and nvidia-smi -q the state of the card"});
    return findings;
  }
  Finding pinned{Level::kOk, name + " pinned memory", StrCat(static_cast<uint64_t>(*rate / 1e6), " MB/s to the card")};
  if (*rate < kSlow) {
    pinned.level = Level::kWarn;
    pinned.advice = "nvidia-smi -q -d PCIE shows the generation and width of the link; move the card to a wider slot";
  }
  findings.push_back(pinned);
  return findings;
}

}  // namespace

Findings CheckDevices(const std::filesystem::path& root, const Settings& settings) {
  std::string kernel = KernelDriver(root);
  StatusOr<CudaDriver> driver = CudaDriver::Open();
  if (absl::IsNotFound(driver.status())) {
    if (kernel.empty()) return {NoCard(root, settings, "no NVIDIA driver", "install the NVIDIA driver, then reboot")};
    return {NoCard(root, settings, StrCat("kernel driver ", kernel, " without libcuda.so.1"),
                   "install the package libcuda1")};
  }
  if (!driver.ok()) {
    return {NoCard(root, settings, StrCat(driver.status().message()),
                   "if the driver was upgraded, reboot; nvidia-smi and dmesg show more")};
  }
  StatusOr<std::vector<CardInfo>> cards = driver->Cards();
  if (!cards.ok() || cards->empty()) {
    std::string why = cards.ok() ? "the driver lists no card" : StrCat(cards.status().message());
    return {NoCard(root, settings, why, "check CUDA_VISIBLE_DEVICES and the permissions of /dev/nvidia*")};
  }
  Findings findings{Driver(*driver, kernel)};
  for (size_t i = 0; i < cards->size(); ++i) {
    const int number = static_cast<int>(i);
    for (Finding& finding : Card(*driver, number, (*cards)[i])) findings.push_back(std::move(finding));
    for (Finding& finding : Fits(StrCat("card ", number), (*cards)[i], settings)) {
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace cuzk::daemon
