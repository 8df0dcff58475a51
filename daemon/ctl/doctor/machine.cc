// doctor: what the machine and its kernel give.

#include <sys/utsname.h>

#include <charconv>
#include <optional>

#include "core/memory/detect.h"
#include "daemon/common/kernel_file.h"
#include "daemon/common/version.h"
#include "daemon/ctl/doctor/finding.h"

namespace cuzk::daemon {
namespace {

using Level = Finding::Level;
constexpr uint64_t kGib = uint64_t{1} << 30;

Finding Versions() {
  utsname kernel{};
  std::string running = uname(&kernel) == 0 ? StrCat(kernel.sysname, " ", kernel.release) : "unknown kernel";
  const std::string built =
      Build().cuda == "none" ? ", built without CUDA" : StrCat(", built with CUDA ", Build().cuda);
  return {Level::kOk, "versions", StrCat("cuzkctl ", Build().version, built, "; ", running)};
}

// One witness of a production size, its parameters on a card, and room for the rest.
constexpr uint64_t kLittleMemory = 32 * kGib;

Finding Memory(const std::filesystem::path& root, const Settings& settings) {
  StatusOr<memory::MemoryLimits> limits = memory::DetectMemory(root);
  if (!limits.ok()) return {Level::kFail, "memory", StrCat(limits.status().message()), "mount /proc"};
  uint64_t usable = limits->usable_bytes();
  uint64_t budget = settings.Size("memory.budget").value_or(memory::DefaultBudget(*limits));
  Finding finding{Level::kOk, "memory",
                  StrCat("budget ", budget >> 20, " MiB of ", usable >> 20, " MiB",
                         limits->cgroup_source.empty() ? "" : StrCat(", limited by ", limits->cgroup_source))};
  if (budget > usable) {
    finding.level = Level::kFail;
    finding.advice = "memory.budget is more than the machine has; \"auto\" chooses a budget that fits";
  } else if (budget < kLittleMemory) {
    finding.level = Level::kWarn;
    finding.advice = "this is little for 32 GiB sectors; see \"Size a machine\" in INSTALL.md";
  }
  return finding;
}

Finding HugePages(const std::filesystem::path& root) {
  std::string mode = KernelFile(root / "sys/kernel/mm/transparent_hugepage/enabled");
  if (mode.empty()) {
    return {Level::kWarn, "huge pages", "this kernel has no transparent huge pages", "use a kernel that has them"};
  }
  if (mode.find("[never]") != std::string::npos) {
    return {Level::kWarn, "huge pages", "disabled for all programs",
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"};
  }
  return {Level::kOk, "huge pages", "available to programs that ask for them"};
}

struct Limit {
  std::optional<uint64_t> value;  // nothing: unlimited
};

// "Max open files            1024                 4096                 files": the first number.
std::optional<Limit> FindLimit(std::string_view limits, std::string_view name) {
  size_t at = limits.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = limits.substr(at + name.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (rest.starts_with("unlimited")) return Limit{};
  uint64_t value = 0;
  if (std::from_chars(rest.data(), rest.data() + rest.size(), value).ec != std::errc()) return std::nullopt;
  return Limit{value};
}

}  // namespace

Findings CheckMachine(const std::filesystem::path& root, const Settings& settings) {
  return {Versions(), Memory(root, settings), HugePages(root)};
}

Findings CheckLimits(const std::filesystem::path& root, int pid) {
  std::string whose = "of the daemon";
  std::string limits = pid == 0 ? "" : KernelFile(root / "proc" / StrCat(pid) / "limits");
  if (limits.empty()) {
    whose = "of this shell";
    limits = KernelFile(root / "proc/self/limits");
  }
  std::optional<Limit> files = FindLimit(limits, "Max open files"), locked = FindLimit(limits, "Max locked memory");
  if (!files || !locked) return {{Level::kWarn, "limits", "/proc/self/limits cannot be read", "mount /proc"}};
  constexpr uint64_t kFewFiles = 65536, kLittleLocked = uint64_t{64} << 20;
  Finding nofile{Level::kOk, "open files", StrCat(files->value ? StrCat(*files->value) : "unlimited", ", ", whose)};
  if (files->value.value_or(kFewFiles) < kFewFiles) {
    nofile.level = Level::kWarn;
    nofile.advice = "set LimitNOFILE=1048576 in the unit, as the package does; in a shell, use ulimit -n";
  }
  Finding memlock{Level::kOk, "locked memory",
                  StrCat(locked->value ? StrCat(*locked->value >> 10, " KiB") : "unlimited", ", ", whose)};
  if (locked->value.value_or(kLittleLocked) < kLittleLocked) {
    memlock.level = Level::kWarn;
    memlock.advice =
        "set LimitMEMLOCK=infinity in the unit, as the package does; the limit does not apply to memory pinned for a "
        "card";
  }
  return {nofile, memlock};
}

}  // namespace cuzk::daemon
