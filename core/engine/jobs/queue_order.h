#pragma once
// In which order unfinished jobs are served, as far as it can be told beforehand.

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/engine/jobs/job_table.h"

namespace cuzk::engine {

/// Whether a job waits for its turn: there is something to be done for it, and no partition of it has begun.
bool Waits(const Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

/// Where an unfinished job is in the order of service.
struct ServicePlace {
  bool waits = false;
  Priority priority{};
  uint64_t key = 0;

  /// Jobs that are under way go before those that wait; of either, the most urgent goes first.
  bool operator<(const ServicePlace& other) const {
    if (waits != other.waits) return other.waits;
    return priority != other.priority ? priority > other.priority : key < other.key;
  }
};
ServicePlace PlaceOf(const Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

/// The unfinished jobs: those that are under way, then those that wait, each the most urgent first.
std::vector<std::shared_ptr<Job>> InOrderOfService(const JobTable& jobs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

/// Of each job that waits, from 1, in the order of service; by key.
std::map<uint64_t, uint32_t> PlacesOf(const JobTable& jobs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
/// Of one job: 0 if it does not wait.
uint32_t PlaceIn(const std::map<uint64_t, uint32_t>& places, const Job& job);
/// How many jobs that wait go before one with that place.
inline uint32_t JobsBefore(uint32_t place) { return place > 0 ? place - 1 : 0; }

}  // namespace cuzk::engine
