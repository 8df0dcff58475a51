#pragma once
// Where a job is, as callers see it.

#include "core/engine/jobs/job_record.h"

namespace cuzk::engine {

/// The furthest stage of any of its partitions; for a job that is over, the stage in which it was then.
Stage StageOf(const Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

}  // namespace cuzk::engine
