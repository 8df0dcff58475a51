#pragma once
// Whether systemd runs the daemon on this machine.

#include <filesystem>
#include <string>

namespace cuzk::daemon {

enum class UnitState {
  kUnknown,       ///< systemd does not run this machine
  kNotInstalled,  ///< there is no unit cuzkd.service
  kStopped,
  kRunning,
};

/// As far as the files tell: the control group of the unit and its unit file. `root` stands for "/".
UnitState StateOfUnit(const std::filesystem::path& root);

/// What to do where no daemon was found.
std::string StartAdvice(UnitState state);

}  // namespace cuzk::daemon
