#include "core/prover/device/driver_error.h"

#include <charconv>
#include <string>

#include "absl/strings/cord.h"

namespace cuzk::prover {
namespace {

/// Names the payload: the number in decimal digits.
constexpr char kPayload[] = "cuzkd/driver-code";

constexpr std::string_view kOldMps =
    "the directory of an MPS daemon that has ended is still there, by default /tmp/nvidia-mps";
constexpr std::string_view kMpsCure =
    "remove that directory, or set CUDA_MPS_PIPE_DIRECTORY to that of a running MPS daemon";

constexpr DriverErrorRow kRows[] = {
    {3, "InitializationError", "the driver does not start; the HMM feature of nvidia_uvm is a known cause",
     "load nvidia_uvm again, or with the option uvm_disable_hmm=1"},
    {35, "InsufficientDriver", "the driver is older than the CUDA of this build", "install a newer driver"},
    {46, "DevicesUnavailable", "the card is in exclusive mode or waits for a reset",
     "see `nvidia-smi -q -d COMPUTE`; reset the card with `nvidia-smi --gpu-reset -i NUMBER`, or reboot"},
    {kNoDevice, "NoDevice", "the driver shows no card",
     "look at CUDA_VISIBLE_DEVICES, at the devices that the container or the unit is given, and at dmesg"},
    {101, "InvalidDevice", "there is no card of that number", "see `nvidia-smi -L`"},
    {802, "SystemNotReady", "the fabric manager is not up", "start nvidia-fabricmanager, and wait until it is up"},
    {803, "SystemDriverMismatch", "the driver's library and its kernel module have different versions", "reboot"},
    {804, "CompatNotSupportedOnDevice", "a compatibility library of CUDA was found, which this card does not support",
     "remove the directory cuda/compat from LD_LIBRARY_PATH"},
    {805, "MpsConnectionFailed", kOldMps, kMpsCure},
    {806, "MpsRpcFailure", kOldMps, kMpsCure},
    {807, "MpsServerNotReady", kOldMps, kMpsCure},
    {808, "MpsMaxClientsReached", "the MPS daemon serves as many programs as it can", "end another program"},
    {809, "MpsMaxConnectionsReached", "the MPS daemon has as many connections as it can have", "end another program"},
    {999, "Unknown", "nvidia_uvm is not loaded, or /dev/nvidia-uvm is missing",
     "`modprobe nvidia_uvm`, and `nvidia-modprobe -c 0 -u` for its device"},
};

}  // namespace

std::span<const DriverErrorRow> DriverErrors() { return kRows; }

const DriverErrorRow* FindDriverError(int code) {
  for (const DriverErrorRow& row : kRows) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

Status DriverError(std::string_view call, int code, std::string_view said) {
  const DriverErrorRow* row = FindDriverError(code);
  if (said.empty()) said = row != nullptr ? row->name : "an unknown error";
  std::string text = StrCat(call, ": ", code, " (", said, ")");
  if (row != nullptr) text += StrCat(": ", row->cause, "; ", row->cure);
  return WithDriverCode(absl::UnavailableError(text), code);
}

std::optional<int> DriverCodeOf(const Status& status) {
  const auto payload = status.GetPayload(kPayload);
  if (!payload) return std::nullopt;
  const std::string digits(*payload);
  int code = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), code);
  return code;
}

Status WithDriverCode(Status status, int code) {
  status.SetPayload(kPayload, absl::Cord(StrCat(code)));
  return status;
}

}  // namespace cuzk::prover
