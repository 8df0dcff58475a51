#include "core/engine/circuits.h"

#include <algorithm>
#include <utility>

#include "core/r1cs/witness.h"

namespace cuzk::engine {

CircuitRecord& CircuitTable::Of(const filecoin::Circuit& circuit) {
  CircuitRecord& record = circuits_[circuit.id];
  if (record.circuit == nullptr) {
    record.circuit = &circuit;
    record.devices.resize(lost_.size());
  }
  return record;
}

bool CircuitTable::Live(const filecoin::Circuit& circuit) {
  const CircuitRecord& record = Of(circuit);
  return std::any_of(record.devices.begin(), record.devices.end(), [](const auto& d) { return d.Get() != nullptr; });
}

bool CircuitTable::MayStillLoad(const CircuitRecord& record) const {
  for (size_t i = 0; i < record.devices.size(); ++i) {
    if (!lost_[i] && record.devices[i].failed.ok()) return true;
  }
  return false;
}

StatusOr<std::shared_ptr<const r1cs::Shape>> CircuitTable::ShapeOf(const filecoin::Circuit& circuit, Actor actor) {
  MutexLock one_at_a_time(shape_mutex_);
  {
    StateLock lock(state_, actor);
    if (auto shape = Of(circuit).shape) return shape;
  }
  CUZK_ASSIGN_OR_RETURN(auto shape, work_.MakeShape(circuit));
  const uint64_t bytes = r1cs::LeaseLayout::For(*shape, layout_).bytes;
  StateLock lock(state_, actor);
  Of(circuit).shape = shape;
  Of(circuit).lease_bytes = bytes;
  return shape;
}

std::vector<Parameters> CircuitTable::TakeFresh(const std::string& except) {
  std::vector<Parameters> taken;
  for (auto& [id, record] : circuits_) {
    if (id == except) continue;
    for (LoadedParameters& device : record.devices) {
      if (device.fresh != nullptr) taken.push_back(std::move(device.fresh));
    }
  }
  return taken;
}

std::vector<Parameters> CircuitTable::TakeUnwanted(const std::set<std::string>& wanted) {
  std::vector<Parameters> taken;
  for (auto& [id, record] : circuits_) {
    if (wanted.contains(id)) continue;
    for (LoadedParameters& device : record.devices) {
      if (device.fresh != nullptr) taken.push_back(std::move(device.fresh));
    }
  }
  return taken;
}

void CircuitTable::StopUnwantedLoads(const Job& over) {
  for (const auto& [key, job] : state_.jobs.jobs()) {
    if (key != over.key && !Over(*job) && job->circuit == over.circuit) return;
  }
  for (LoadedParameters& device : circuits_.at(over.circuit).devices) {
    if (device.loading) device.stop.request_stop();
  }
}

std::vector<LoadedParameters> CircuitTable::LoseDevice(size_t device) {
  lost_[device] = true;
  std::vector<LoadedParameters> freed;
  for (auto& [id, record] : circuits_) {
    LoadedParameters& lost = record.devices[device];
    freed.push_back(std::exchange(lost, LoadedParameters{.loading = lost.loading}));
    for (LoadedParameters& other : record.devices) other.failed = absl::OkStatus();
  }
  return freed;
}

}  // namespace cuzk::engine
