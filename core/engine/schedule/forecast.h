#pragma once
// When each job will be done: what is to be done before it and for it, at the pace that was measured.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/schedule/estimator.h"

namespace cuzk::engine {

/// What is left of one unfinished job.
struct Outlook {
  uint64_t key = 0;
  Priority priority = Priority::kNormal;
  std::string circuit;       ///< as far as it is known; empty: not known
  bool parsed = false;       ///< its request need not be parsed any more
  bool loading = false;      ///< it waits for parameters
  double loaded = 0;         ///< the share of them that is loaded
  uint32_t partitions = 1;   ///< all
  uint32_t synthesized = 0;  ///< of these, those whose witness is there or was
  double proved = 0;         ///< of these, those that the device is done with, with the shares of those under way
};
Outlook OutlookOf(const Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

/// What works at the same time.
struct Capacity {
  unsigned synthesis_threads = 1;
  unsigned devices = 1;
};

/// By key: the seconds until a job is done, or nothing if its circuit, or that of one before it, was never proved. Jobs
/// go by priority, then by key. Witnesses are written and partitions computed at the same time, so that the slower of
/// the two decides; what is neither, such as parsing the first request and the last verification, comes on top.
std::map<uint64_t, std::optional<double>> Forecast(std::vector<Outlook> jobs, const Estimator& estimator,
                                                   const Capacity& capacity);

}  // namespace cuzk::engine
