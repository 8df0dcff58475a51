#pragma once
// What `cuzkctl doctor` looks at. Each check gives one line or several; none changes anything that stays.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/settings/settings.h"

namespace cuzk::daemon {

struct Finding {
  enum class Level { kOk, kWarn, kFail } level = Level::kOk;
  std::string check;   ///< "driver", "parameters porep-32g"
  std::string said;    ///< what was seen
  std::string advice;  ///< what to do; empty where nothing is to be done
};
using Findings = std::vector<Finding>;
/// "ok", "warn", "fail".
std::string_view LevelName(Finding::Level level);

/// Versions, memory, huge pages. `root` stands for "/" (a test gives a folder).
Findings CheckMachine(const std::filesystem::path& root, const Settings& settings);

/// Of the daemon's process if `pid` is not 0 and may be looked at, else of this one.
Findings CheckLimits(const std::filesystem::path& root, int pid);

/// Driver, cards, and the rate at which pinned memory is copied to each. Says so where there is no card.
Findings CheckDevices(const std::filesystem::path& root, const Settings& settings);

/// Errors of cards that the driver told the kernel's log (Xid), since the system started: one line a card. Empty where
/// there is neither a driver nor an error.
Findings CheckKernelLog(const std::filesystem::path& root);

/// Parameter and key files by circuit. `digests`: read the whole files and compare them with what was published,
/// or with the record of development files.
Findings CheckParameters(const Settings& settings, bool digests);
/// How fast the largest parameter file is read from the disk.
Findings CheckDisk(const Settings& settings);
/// The folder that accepted jobs are kept in.
Findings CheckState(const Settings& settings);
/// The name of a file system that another machine serves, of what statfs(2) says in f_type; empty for any other.
std::string_view NetworkFileSystem(uint64_t magic);

struct Session;

struct DaemonFindings {
  Findings findings;
  int pid = 0;  ///< of the daemon, where its socket tells
};
/// What the running daemon has for settings, and how they differ from those of the session. Nothing if it does not
/// tell.
struct RunningSettings {
  std::optional<Settings> settings;
  Findings findings;
};
RunningSettings AskForSettings(const Session& session);

/// Whether the daemon answers, and whether it is of this version.
DaemonFindings CheckDaemon(const Session& session);

}  // namespace cuzk::daemon
