#pragma once
// What the stations hand to one another: move-only values, each with all that it holds.

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "core/engine/jobs/job_record.h"
#include "core/engine/state/circuits.h"
#include "core/engine/state/state.h"
#include "core/groth16/proof.h"
#include "core/memory/pinned_pool.h"
#include "core/r1cs/witness.h"
#include "core/store/row.h"

namespace cuzk::engine {

class DeviceStage;

/// A request that is to be parsed.
struct ParseTask {
  Passage passage;
  std::shared_ptr<Job> job;
};

/// One partition on its way. Members are destroyed from the last to the first, so the passage ends after all is freed.
struct PartitionTask {
  Passage passage;
  std::shared_ptr<Job> job;
  std::shared_ptr<const ParsedJob> parsed;
  uint32_t index = 0;
  DeviceStage* device = nullptr;
  memory::Reservation host_memory;  ///< what the device needs beside the lease
  Parameters parameters;
  TimePoint began{};  ///< of the present stage
};

/// A partition whose witness is to be written into the lease.
struct SynthesisTask {
  PartitionTask task;
  memory::Lease lease;
};

/// A partition whose witness waits for a device.
struct DeviceTask {
  PartitionTask task;
  std::optional<r1cs::Witness> witness;
  uint32_t passed = 0;  ///< by partitions that came to the device's queue later
};

/// A partition whose sums are to become a proof.
struct FinishTask {
  PartitionTask task;
  groth16::MsmResults results;
};

/// A change that is to be written to the job store.
struct RecordTask {
  enum class What { kEnd, kFetched, kForget, kPriority } what{};
  int64_t row = 0;
  std::shared_ptr<Job> job;  ///< kEnd
  Outcome outcome;           ///< kEnd
  JobTimings timings;        ///< kEnd, of a completed job
  int64_t finished_ms = 0;   ///< kEnd, milliseconds since 1970
  Priority priority{};       ///< kPriority
  TimePoint since{};         ///< when it was asked for
};

}  // namespace cuzk::engine
