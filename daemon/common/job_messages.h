#pragma once
// The messages about lists of jobs, and what they mean to the engine.

#include <cstdint>

#include "core/base/status.h"
#include "core/engine/jobs/job_list.h"
#include "cuzkd/v1/operator.pb.h"

namespace cuzk::daemon {

/// The most jobs of one answer, and what it shows of an error: together an answer has less than 4 MiB.
inline constexpr uint32_t kMostListedJobs = 1000;
inline constexpr size_t kListedErrorBytes = 1000;

/// INVALID_ARGUMENT for a kind or a state that is none, or for a time that is no number of seconds.
StatusOr<engine::JobQuery> ToJobQuery(const cuzkd::v1::ListJobsRequest& request);

/// `error_bytes`: what of an error is shown.
cuzkd::v1::Job ToJobMessage(const engine::ListedJob& job, size_t error_bytes);

}  // namespace cuzk::daemon
