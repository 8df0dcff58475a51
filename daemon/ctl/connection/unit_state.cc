#include "daemon/ctl/connection/unit_state.h"

#include "daemon/common/kernel_file.h"

namespace cuzk::daemon {

UnitState StateOfUnit(const std::filesystem::path& root) {
  std::error_code error;
  if (!std::filesystem::is_directory(root / "run/systemd/system", error)) return UnitState::kUnknown;
  // The unified hierarchy, and where the older one keeps systemd's.
  for (const char* hierarchy : {"sys/fs/cgroup", "sys/fs/cgroup/systemd", "sys/fs/cgroup/unified"}) {
    const std::string processes = KernelFile(root / hierarchy / "system.slice/cuzkd.service/cgroup.procs");
    if (!processes.empty()) return UnitState::kRunning;
  }
  for (const char* folder : {"etc/systemd/system", "usr/lib/systemd/system", "lib/systemd/system"}) {
    if (std::filesystem::exists(root / folder / "cuzkd.service", error)) return UnitState::kStopped;
  }
  return UnitState::kNotInstalled;
}

std::string StartAdvice(UnitState state) {
  switch (state) {
    case UnitState::kRunning:
      return "the unit cuzkd is running; compare --address with the setting listen, and see journalctl -u cuzkd";
    case UnitState::kStopped:
      return "the unit cuzkd is not running: systemctl start cuzkd; journalctl -u cuzkd shows why it ended";
    case UnitState::kNotInstalled:
      return "the unit cuzkd is not installed; start cuzkd, or give the address of a daemon with --address";
    case UnitState::kUnknown:
      break;
  }
  return "systemctl start cuzkd; journalctl -u cuzkd shows why it ended";
}

}  // namespace cuzk::daemon
