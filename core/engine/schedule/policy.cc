#include "core/engine/schedule/policy.h"

#include <algorithm>

namespace cuzk::engine {

Priority PriorityOf(uint64_t message_value, filecoin::Kind kind) {
  if (message_value == 0) message_value = filecoin::KindInfo(kind).default_priority;
  return message_value >= 1 && message_value <= 4 ? static_cast<Priority>(message_value) : Priority::kNormal;
}

prover::LoadUrgency UrgencyOf(Priority priority) {
  return {.level = static_cast<unsigned>(priority), .critical = priority == Priority::kCritical};
}

bool HasReserve(filecoin::Kind kind) { return kind == filecoin::Kind::kWinning; }

uint64_t ReservedBytes(uint64_t limit) { return std::max(limit / 8, uint64_t{64} << 20); }

IntakeLimits LimitsFor(filecoin::Kind kind, const IntakeLimits& limits) {
  if (!HasReserve(kind)) return limits;
  return {.unfinished_jobs = limits.unfinished_jobs + kReservedJobs,
          .request_memory_bytes = limits.request_memory_bytes + ReservedBytes(limits.request_memory_bytes),
          .stored_bytes = limits.stored_bytes + ReservedBytes(limits.stored_bytes)};
}

}  // namespace cuzk::engine
