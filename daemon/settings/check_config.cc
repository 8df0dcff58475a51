#include "daemon/settings/check_config.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "core/engine/intake.h"
#include "core/filecoin/parameter_bytes.h"
#include "core/filecoin/types/registry.h"
#include "core/memory/budget.h"
#include "core/store/state_directory.h"

namespace cuzk::daemon {
namespace {

void LookAtSockets(const DaemonOptions& options, ConfigCheck& check) {
  for (const Address& address : options.server.listen) {
    if (address.kind != Address::Kind::kUnixPath) continue;
    Status free = CheckSocketPath(address.path);
    if (!free.ok()) check.notes.emplace_back(StrCat(free.message()));
  }
}

// Whether a folder has a parameter file of any circuit.
bool HasParameters(const std::filesystem::path& folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator file(folder, error), end; !error && file != end; file.increment(error)) {
    if (filecoin::FindCircuitByFile(file->path().filename().string()) != nullptr) return true;
  }
  return false;
}

void LookAtState(const DaemonOptions& options, ConfigCheck& check) {
  const std::filesystem::path& folder = options.engine.state_directory;
  if (folder.empty()) return;
  // A note: systemd gives the folder of its unit the right mode when it starts it.
  if (Status mode = store::CheckStateDirectory(folder); !mode.ok()) check.notes.emplace_back(StrCat(mode.message()));
  if (access(folder.c_str(), R_OK | W_OK | X_OK) != 0) {
    check.notes.push_back(
        StrCat("jobs.state_directory: ", folder.string(), " does not exist or cannot be written by this user"));
  }
}

void LookAtMemory(const DaemonOptions& options, ConfigCheck& check) {
  StatusOr<memory::MemoryLimits> limits = memory::DetectMemory();
  if (!limits.ok()) return;
  if (std::string note = BudgetNote(options, *limits); !note.empty()) check.notes.push_back(std::move(note));
}

// What `devices.use = "auto"` finds.
std::string FittedDevices(const std::string& use, const DeviceSources& cards) {
  if (use != "auto") return use;
  return NvidiaCards(cards.pci).empty() ? "cpu; the PCI bus shows no NVIDIA card" : "gpu";
}

}  // namespace

std::string ParameterNote(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) {
    return StrCat("params.directory: there is no directory ", folder.string());
  }
  if (!std::filesystem::is_directory(folder, error)) {
    return StrCat("params.directory: ", folder.string(), " is a file, not a directory");
  }
  if (access(folder.c_str(), R_OK | X_OK) != 0) {
    return StrCat("params.directory: ", folder.string(), " cannot be read by this user");
  }
  if (HasParameters(folder)) return "";
  return StrCat("params.directory: ", folder.string(), " has no parameters, so every job will be refused");
}

std::vector<std::string> PreloadNotes(const DaemonOptions& options) {
  std::vector<std::string> notes;
  for (const std::string& id : options.preload) {
    const filecoin::Circuit* circuit = filecoin::FindCircuit(id);  // the options have no other circuits
    const Status head =
        filecoin::CheckParameterHead(*circuit, options.engine.parameter_directory / circuit->params_file());
    if (head.ok()) continue;
    notes.push_back(
        StrCat("params.preload: ", id, " cannot be loaded, and the daemon will not start: ", head.message()));
  }
  return notes;
}

std::string BudgetNote(const DaemonOptions& options, const memory::MemoryLimits& limits) {
  const uint64_t budget = options.memory_budget + options.server.ingress_bytes;
  if (budget <= limits.usable_bytes()) return "";
  return StrCat("memory.budget: ", budget >> 20, " MiB is more than the ", limits.usable_bytes() >> 20, " MiB that ",
                limits.cgroup_source.empty() ? std::string("this machine has") : limits.cgroup_source + " allows",
                "; the kernel will kill the daemon when it uses them. \"auto\" chooses a budget that fits");
}

std::string FittedSettings(const DaemonOptions& options, const DeviceSources& cards) {
  const memory::Budget budget(options.memory_budget);
  auto mib = [](uint64_t bytes) { return StrCat(bytes >> 20, " MiB"); };
  const unsigned threads = options.pool_threads != 0 ? options.pool_threads : std::thread::hardware_concurrency();
  std::string text("\n# On this machine, the settings that depend on it are:\n");
  text += StrCat("# memory.budget: ", mib(options.memory_budget + options.server.ingress_bytes), "\n");
  text += StrCat("# grpc.ingress_memory, part of memory.budget: ", mib(options.server.ingress_bytes), "; ",
                 mib(options.memory_budget), " are left for the rest, which status and metrics show as the budget\n");
  text +=
      StrCat("# memory.requests, part of the rest: ", mib(engine::RequestMemoryLimit(options.engine, budget)), "\n");
  text += StrCat("# devices.use: ", FittedDevices(options.devices.use, cards), "\n");
  return text + StrCat("# synthesis.threads: ", std::max(1U, threads), "\n");
}

ConfigCheck CheckConfig(const DaemonOptions& options, const DeviceSources& cards) {
  ConfigCheck check;
  if (options.server.tls.enabled()) check.status = ReadTlsMaterial(options.server.tls).status();
  LookAtSockets(options, check);
  for (std::string& note : PreloadNotes(options)) check.notes.push_back(std::move(note));
  std::string parameters = ParameterNote(options.engine.parameter_directory);
  if (!parameters.empty()) check.notes.push_back(std::move(parameters));
  LookAtState(options, check);
  LookAtMemory(options, check);
  for (std::string& note : DeviceNotes(options.devices.use, cards)) check.notes.push_back(std::move(note));
  return check;
}

}  // namespace cuzk::daemon
