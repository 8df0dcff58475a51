#include "core/engine/intake.h"

#include <algorithm>
#include <utility>

#include "core/base/random.h"
#include "core/engine/schedule/policy.h"
#include "core/store/payload.h"

namespace cuzk::engine {

std::string RandomUuid() {
  std::array<uint8_t, 16> bytes;
  FillRandom(bytes);
  bytes[6] = static_cast<uint8_t>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<uint8_t>((bytes[8] & 0x3f) | 0x80);
  std::string hex = ToHex(bytes);
  return StrCat(hex.substr(0, 8), "-", hex.substr(8, 4), "-", hex.substr(12, 4), "-", hex.substr(16, 4), "-",
                hex.substr(20));
}

StatusOr<Submission> TakeIn(ProofRequest request, const ProofWork& work, const EngineOptions& options) {
  if (request.request_id.size() > kMaxRequestIdBytes) {
    return absl::InvalidArgumentError(
        StrCat("request_id has ", request.request_id.size(), " bytes; at most ", kMaxRequestIdBytes, " are accepted"));
  }
  uint64_t bytes = request.vanilla.payload_bytes();
  if (bytes > options.max_request_bytes) {
    return absl::ResourceExhaustedError(
        StrCat("the request has ", bytes, " bytes; at most ", options.max_request_bytes, " are accepted"));
  }
  Submission submission;
  CUZK_ASSIGN_OR_RETURN(submission.facts, work.Check(request.vanilla));
  submission.digest = store::PayloadDigest(request.vanilla);
  submission.priority = PriorityOf(request.priority, submission.facts.kind);
  submission.deadline = request.deadline;
  submission.job_id = request.request_id.empty() ? RandomUuid() : std::move(request.request_id);
  submission.payload_bytes = bytes;
  submission.subject = {.miner = request.vanilla.miner_id,
                        .sector = request.vanilla.sector_number,
                        .partition = request.vanilla.partition_index};
  submission.vanilla = std::move(request.vanilla);
  return submission;
}

uint64_t RequestMemoryLimit(const EngineOptions& options, const memory::Budget& budget) {
  return options.max_request_memory != 0 ? options.max_request_memory : std::max<uint64_t>(1, budget.limit_bytes() / 4);
}

Status ReserveFor(Submission& submission, const ProofWork& work, memory::Budget& budget, uint64_t limit) {
  uint64_t bytes = submission.payload_bytes + work.ParsedBytes(submission.payload_bytes);
  auto memory = budget.TryReserve(memory::MemoryClass::kRequests, bytes, limit);
  if (!memory.ok()) {
    return absl::ResourceExhaustedError(StrCat("no memory for the request: ", memory.status().message()));
  }
  submission.memory = *std::move(memory);
  return absl::OkStatus();
}

}  // namespace cuzk::engine
