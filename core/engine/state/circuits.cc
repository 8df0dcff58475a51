#include "core/engine/state/circuits.h"

#include <algorithm>
#include <utility>

#include "core/r1cs/witness.h"

namespace cuzk::engine {

CircuitRecord& CircuitTable::Of(const filecoin::Circuit& circuit) {
  CircuitRecord& record = circuits_[circuit.id];
  if (record.circuit == nullptr) {
    record.circuit = &circuit;
    record.shaping = std::make_shared<Mutex>();
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
    if (!lost_[i] && record.devices[i].failed.ok() && Takes(p_.engine, i, record.circuit->kind)) return true;
  }
  return false;
}

StatusOr<std::shared_ptr<const r1cs::Shape>> CircuitTable::ShapeOf(const filecoin::Circuit& circuit, Actor actor) {
  std::shared_ptr<Mutex> shaping;
  {
    StateLock lock(p_.state, actor);
    shaping = Of(circuit).shaping;
  }
  // Once for each circuit: a small one does not wait for a large one.
  MutexLock one_at_a_time(*shaping);
  {
    StateLock lock(p_.state, actor);
    if (auto shape = Of(circuit).shape) return shape;
  }
  CUZK_ASSIGN_OR_RETURN(auto shape, p_.work.MakeShape(circuit));
  const uint64_t bytes = r1cs::LeaseLayout::For(*shape, p_.plan.layout).bytes;
  Status fits = Fits(circuit, *shape, bytes);
  StateLock lock(p_.state, actor);
  CircuitRecord& record = Of(circuit);
  record.shape = shape;
  record.lease_bytes = bytes;
  record.fits = std::move(fits);
  return shape;
}

Status CircuitTable::Fits(const filecoin::Circuit& circuit, const r1cs::Shape& shape, uint64_t lease_bytes) const {
  const uint64_t limit = p_.budget.limit_bytes();
  Status why;
  for (size_t i = 0; i < p_.engine.devices.size(); ++i) {
    if (!Takes(p_.engine, i, circuit.kind)) continue;
    const StatusOr<prover::Plan> plan = p_.engine.devices[i]->MakePlan(shape, p_.plan);
    // A device that cannot be asked now says so when parameters are loaded.
    if (!plan.ok()) return absl::OkStatus();
    const uint64_t needed = plan->parameter_host_bytes + plan->partition_host_bytes + lease_bytes;
    if (needed <= limit) return absl::OkStatus();
    why = absl::ResourceExhaustedError(StrCat(circuit.id, " can never fit the memory budget: it needs ", needed,
                                              " bytes (parameters ", plan->parameter_host_bytes, ", one partition ",
                                              plan->partition_host_bytes, " and its witness ", lease_bytes,
                                              "), and the budget has ", limit));
  }
  return why;
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
  for (const auto& [key, job] : p_.state.jobs.jobs()) {
    if (key != over.key && !Over(*job) && job->circuit == over.circuit) return;
  }
  for (LoadedParameters& device : circuits_.at(over.circuit).devices) {
    if (device.loading) device.stop.request_stop();
  }
}

std::vector<LoadedParameters> CircuitTable::LoseDevice(size_t device) {
  lost_[device] = true;
  p_.state.loads_given_up.Add(std::exchange(loads_[device].count, 0), p_.engine.clock->Now());
  loads_[device].times_lost++;
  std::vector<LoadedParameters> freed;
  for (auto& [id, record] : circuits_) {
    LoadedParameters& lost = record.devices[device];
    if (lost.loading) lost.stop.request_stop();
    freed.push_back(std::exchange(lost, LoadedParameters{.loading = lost.loading}));
    for (LoadedParameters& other : record.devices) other.failed = absl::OkStatus();
  }
  return freed;
}

unsigned CircuitTable::BeginLoad(size_t device) {
  loads_[device].count++;
  return loads_[device].times_lost;
}

void CircuitTable::EndLoad(size_t device, unsigned begun) {
  if (begun == loads_[device].times_lost) {
    loads_[device].count--;
  } else {
    p_.state.loads_given_up.CameBack();
  }
}

void CircuitTable::ReturnDevice(size_t device) {
  lost_[device] = false;
  for (auto& [id, record] : circuits_) record.devices[device].failed = absl::OkStatus();
}

}  // namespace cuzk::engine
