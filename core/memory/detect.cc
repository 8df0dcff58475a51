#include "core/memory/detect.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

namespace cuzk::memory {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

/// Whole text as a decimal number; nullopt for "max" and everything else.
std::optional<uint64_t> Number(std::string_view text) {
  uint64_t value = 0;
  text = Trimmed(text);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Calls line(text) for each line.
template <class F>
void ForEachLine(std::string_view text, F line) {
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Files of the kernel have no size and cannot be mapped. Empty if unreadable.
std::string ReadKernelFile(const std::filesystem::path& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

StatusOr<uint64_t> ReadMemTotal(const std::filesystem::path& path) {
  std::string text = ReadKernelFile(path);
  std::optional<uint64_t> total;
  ForEachLine(text, [&](std::string_view line) {
    constexpr std::string_view kKey = "MemTotal:", kUnit = "kB";
    if (!line.starts_with(kKey)) return;
    line = Trimmed(line.substr(kKey.size()));
    if (!line.ends_with(kUnit)) return;
    if (auto kib = Number(line.substr(0, line.size() - kUnit.size()))) total = *kib * 1024;
  });
  if (!total || *total == 0) return absl::InternalError(StrCat(path.string(), " has no MemTotal"));
  return *total;
}

/// Takes the smallest limit named `file` in `mount/group` and the groups above it.
void ReadLimits(const std::filesystem::path& mount, std::string_view group, const char* file, MemoryLimits* limits) {
  while (group.starts_with('/')) group.remove_prefix(1);
  std::filesystem::path relative(group);
  for (;;) {
    std::filesystem::path path = mount / relative / file;
    auto value = Number(ReadKernelFile(path));
    // Version 1 writes a huge number where version 2 writes "max".
    if (value && *value > 0 && *value < limits->machine_bytes &&
        (limits->cgroup_bytes == 0 || *value < limits->cgroup_bytes)) {
      limits->cgroup_bytes = *value;
      limits->cgroup_source = path.string();
    }
    if (relative.empty()) return;
    relative = relative.parent_path();
  }
}

}  // namespace

uint64_t MemoryLimits::usable_bytes() const {
  return cgroup_bytes == 0 ? machine_bytes : std::min(machine_bytes, cgroup_bytes);
}

StatusOr<MemoryLimits> DetectMemory(const std::filesystem::path& root) {
  MemoryLimits limits;
  CUZK_ASSIGN_OR_RETURN(limits.machine_bytes, ReadMemTotal(root / "proc/meminfo"));
  std::filesystem::path mount = root / "sys/fs/cgroup";
  std::string groups = ReadKernelFile(root / "proc/self/cgroup");  // empty on a system without control groups
  // Lines are "id:controllers:path"; id 0 without controllers is version 2.
  ForEachLine(groups, [&](std::string_view line) {
    size_t first = line.find(':');
    size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) return;
    std::string controllers = StrCat(",", line.substr(first + 1, second - first - 1), ",");
    std::string_view group = line.substr(second + 1);
    if (controllers == ",,") ReadLimits(mount, group, "memory.max", &limits);
    if (controllers.find(",memory,") != controllers.npos) {
      ReadLimits(mount / "memory", group, "memory.limit_in_bytes", &limits);
    }
  });
  return limits;
}

uint64_t DefaultReserve(uint64_t usable_bytes) {
  return std::min(std::clamp(usable_bytes / 8, 256 * kMiB, 8192 * kMiB), usable_bytes / 2);
}

uint64_t DefaultBudget(const MemoryLimits& limits) {
  return limits.usable_bytes() - DefaultReserve(limits.usable_bytes());
}

}  // namespace cuzk::memory
