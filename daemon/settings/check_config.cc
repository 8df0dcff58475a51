#include "daemon/settings/check_config.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "core/engine/intake.h"
#include "core/store/state_directory.h"
#include "core/memory/budget.h"
#include "daemon/common/version.h"
#include "daemon/devices/devices.h"

namespace cuzk::daemon {
namespace {

void LookAtSockets(const DaemonOptions& options, ConfigCheck& check) {
  for (const Address& address : options.server.listen) {
    if (address.kind != Address::Kind::kUnixPath) continue;
    Status free = CheckSocketPath(address.path);
    if (!free.ok()) check.notes.emplace_back(StrCat(free.message()));
  }
}

void LookAtParameters(const DaemonOptions& options, ConfigCheck& check) {
  const std::filesystem::path& folder = options.engine.parameter_directory;
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    check.notes.push_back(StrCat("params.directory: there is no folder ", folder.string()));
  } else if (access(folder.c_str(), R_OK | X_OK) != 0) {
    check.notes.push_back(StrCat("params.directory: ", folder.string(), " is not readable for this user"));
  }
}

void LookAtState(const DaemonOptions& options, ConfigCheck& check) {
  const std::filesystem::path& folder = options.engine.state_directory;
  if (folder.empty()) return;
  // A note: systemd gives the folder of its unit the right mode when it starts it.
  if (Status mode = store::CheckStateDirectory(folder); !mode.ok()) check.notes.emplace_back(StrCat(mode.message()));
  if (access(folder.c_str(), R_OK | W_OK | X_OK) != 0) {
    check.notes.push_back(
        StrCat("jobs.state_directory: ", folder.string(), " is not there or not writable for this user"));
  }
}

void LookAtMemory(const DaemonOptions& options, ConfigCheck& check) {
  StatusOr<memory::MemoryLimits> limits = memory::DetectMemory();
  if (!limits.ok()) return;
  if (std::string note = BudgetNote(options, *limits); !note.empty()) check.notes.push_back(std::move(note));
}

// What `devices.use = "auto"` finds.
std::string FittedDevices(const std::string& use) {
  if (use != "auto") return use;
  if (Build().cuda == "none") return "cpu; this build has no CUDA back end";
  const std::vector<std::string> notes = DeviceNotes(use);
  constexpr std::string_view kSetting = "devices.use: ";
  return notes.empty() ? "gpu" : StrCat("cpu; ", notes.front().substr(kSetting.size()));
}

}  // namespace

std::string BudgetNote(const DaemonOptions& options, const memory::MemoryLimits& limits) {
  const uint64_t budget = options.memory_budget + options.server.ingress_bytes;
  if (budget <= limits.usable_bytes()) return "";
  return StrCat("memory.budget: ", budget >> 20, " MiB is more than the ", limits.usable_bytes() >> 20, " MiB that ",
                limits.cgroup_source.empty() ? std::string("this machine has") : limits.cgroup_source + " allows",
                ": the kernel will end the daemon when it uses them; auto fits itself to the machine");
}

std::string FittedSettings(const DaemonOptions& options) {
  const memory::Budget budget(options.memory_budget);
  auto mib = [](uint64_t bytes) { return StrCat(bytes >> 20, " MiB"); };
  const unsigned threads = options.pool_threads != 0 ? options.pool_threads : std::thread::hardware_concurrency();
  std::string text("\n# What fits itself to the machine comes to this here:\n");
  text += StrCat("# memory.budget: ", mib(options.memory_budget + options.server.ingress_bytes), "\n");
  text += StrCat("# grpc.ingress_memory, a part of it: ", mib(options.server.ingress_bytes), "; ",
                 mib(options.memory_budget), " are left for all else, which status and metrics call the budget\n");
  text += StrCat("# memory.requests, a part of these: ", mib(engine::RequestMemoryLimit(options.engine, budget)), "\n");
  text += StrCat("# devices.use: ", FittedDevices(options.devices.use), "\n");
  return text + StrCat("# synthesis.threads: ", std::max(1U, threads), "\n");
}

ConfigCheck CheckConfig(const DaemonOptions& options) {
  ConfigCheck check;
  if (options.server.tls.enabled()) check.status = ReadTlsMaterial(options.server.tls).status();
  LookAtSockets(options, check);
  LookAtParameters(options, check);
  LookAtState(options, check);
  LookAtMemory(options, check);
  for (std::string& note : DeviceNotes(options.devices.use)) check.notes.push_back(std::move(note));
  return check;
}

}  // namespace cuzk::daemon
