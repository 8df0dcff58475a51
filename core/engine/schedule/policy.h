#pragma once
// Which job goes first, and what is held in reserve for those that cannot wait.

#include <chrono>
#include <cstdint>

#include "core/engine/jobs/job.h"
#include "core/filecoin/types/registry.h"
#include "core/prover/parameters/load_turns.h"

namespace cuzk::engine {

/// What a message's priority means: 0 is the kind's default; values outside 0..4 are kNormal.
Priority PriorityOf(uint64_t message_value, filecoin::Kind kind);

/// The order of loads of parameters: by priority, and CRITICAL waits for no other.
prover::LoadUrgency UrgencyOf(Priority priority);

/// The limits that intake holds a request to.
struct IntakeLimits {
  uint32_t unfinished_jobs = 0;
  uint64_t request_memory_bytes = 0;  ///< of the budget, for all requests and their parsed forms
  uint64_t stored_bytes = 0;          ///< of the job store, for all unfinished requests
};

/// A WinningPoSt earns or loses a block within half a minute, and must not be refused because other requests wait: it
/// may exceed each limit by a reserve. No other place decides about that.
bool HasReserve(filecoin::Kind kind);
/// For the same reason the disk of the job store does not keep such a job waiting for longer than this: it is then
/// proved without being stored, and its callers are answered before its end is recorded.
inline constexpr std::chrono::seconds kUrgentPatience{2};
/// The limits for a request of that kind.
IntakeLimits LimitsFor(filecoin::Kind kind, const IntakeLimits& limits);
/// The reserves: jobs beyond the queue's limit, and bytes beyond a limit of bytes.
inline constexpr uint32_t kReservedJobs = 16;
uint64_t ReservedBytes(uint64_t limit);

/// The same for partitions of CRITICAL jobs on each device: a worker, and a place in the queue, that others do not get.
inline constexpr unsigned kReservedWorkers = 1;
inline constexpr unsigned kReservedPlaces = 1;

}  // namespace cuzk::engine
