#pragma once
// From a request to a submission: what the message's fields show, and the digest that tells equal requests.

#include <string>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/engine/jobs/job_record.h"
#include "core/engine/jobs/options.h"
#include "core/engine/state/proof_work.h"

namespace cuzk::engine {

inline constexpr size_t kMaxRequestIdBytes = 1024;

/// A random UUID, version 4, in lower case.
std::string RandomUuid();

/// Checks what the message shows and makes the submission, without memory: see ReserveFor. INVALID_ARGUMENT,
/// UNIMPLEMENTED, or RESOURCE_EXHAUSTED for a payload above the limit.
StatusOr<Submission> TakeIn(ProofRequest request, const ProofWork& work, const EngineOptions& options);

/// The most that requests and their parsed forms may hold together, so that parameters and witnesses find room beside
/// any number of them.
uint64_t RequestMemoryLimit(const EngineOptions& options, const memory::Budget& budget);

/// Counts the request and its parsed form in the budget, of which requests may take `limit` bytes together.
/// RESOURCE_EXHAUSTED if there is no room now.
Status ReserveFor(Submission& submission, const ProofWork& work, memory::Budget& budget, uint64_t limit);

}  // namespace cuzk::engine
