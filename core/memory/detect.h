#pragma once
// How much memory this process may use: the machine's, or its control group's where that is less.

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/status.h"

namespace cuzk::memory {

struct MemoryLimits {
  uint64_t machine_bytes = 0;  ///< MemTotal of /proc/meminfo
  uint64_t cgroup_bytes = 0;   ///< the smallest limit from the process's group up to the root; 0: none
  std::string cgroup_source;   ///< the file that limit was read from; empty: none

  /// The smaller of the two.
  uint64_t usable_bytes() const;
};

/// Reads /proc/meminfo, /proc/self/cgroup and the limits of cgroup v2 (memory.max) or v1 (memory.limit_in_bytes) below
/// /sys/fs/cgroup. `root` stands for "/" (a test gives a folder). INTERNAL only if MemTotal is unreadable.
StatusOr<MemoryLimits> DetectMemory(const std::filesystem::path& root = "/");

/// The memory that the default budget leaves to the rest of the process and the machine: an eighth of the usable
/// memory, at least 256 MiB, at most 8 GiB, never more than half.
uint64_t DefaultReserve(uint64_t usable_bytes);
/// usable_bytes() less the reserve.
uint64_t DefaultBudget(const MemoryLimits& limits);

}  // namespace cuzk::memory
