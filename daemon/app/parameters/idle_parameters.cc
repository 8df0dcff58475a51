#include "daemon/app/parameters/idle_parameters.h"

namespace cuzk::daemon {

std::vector<std::string> IdleParameters::Due(const engine::EngineStatus& status, engine::TimePoint now,
                                             engine::Duration limit) {
  std::map<std::string, bool> used;  // by circuit
  for (const prover::ParameterStatus& parameters : status.parameters) {
    bool busy = parameters.in_use || parameters.state != prover::ParameterStatus::State::kReady;
    used[parameters.circuit] = used[parameters.circuit] || busy;
  }
  // A job that is waiting or running will want its circuit's parameters, or has just had them.
  for (const engine::JobStatus& job : status.jobs) {
    if (auto found = used.find(job.circuit); found != used.end()) found->second = true;
  }
  std::vector<std::string> due;
  std::map<std::string, engine::TimePoint> idle_since;
  for (const auto& [circuit, busy] : used) {
    if (busy || kept_.contains(circuit)) continue;
    auto known = idle_since_.find(circuit);
    idle_since[circuit] = known == idle_since_.end() ? now : known->second;
    if (limit > engine::Duration::zero() && now - idle_since[circuit] >= limit) due.push_back(circuit);
  }
  idle_since_ = std::move(idle_since);
  return due;
}

}  // namespace cuzk::daemon
