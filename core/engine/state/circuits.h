#pragma once
// The circuits that jobs have asked for: their shapes and verifiers, and their parameters on each device.

#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/engine/state/proof_work.h"
#include "core/engine/state/state.h"
#include "core/filecoin/types/registry.h"
#include "core/groth16/verifier.h"
#include "core/prover/device/device.h"
#include "core/r1cs/shape.h"

namespace cuzk::engine {

using Parameters = std::shared_ptr<const prover::ResidentParameters>;

/// Parameters of one circuit on one device.
struct LoadedParameters {
  std::weak_ptr<const prover::ResidentParameters> loaded;  ///< alive while a partition uses them
  Parameters fresh;                                        ///< held from loading to the first use
  bool loading = false;
  std::stop_source stop;  ///< of the load that goes on
  Status failed;          ///< of the last attempt
  Parameters Get() const { return fresh ? fresh : loaded.lock(); }
};

struct CircuitRecord {
  const filecoin::Circuit* circuit = nullptr;
  std::shared_ptr<Mutex> shaping;  ///< held while its shape is made
  std::shared_ptr<const r1cs::Shape> shape;
  uint64_t lease_bytes = 0;
  Status fits;  ///< RESOURCE_EXHAUSTED, with figures, if its parameters and one partition can never be in the budget
  std::shared_ptr<const groth16::Verifier> verifier;
  std::vector<LoadedParameters> devices;  ///< by the number of the device
};

class CircuitTable {
 public:
  struct Parts {
    EngineState& state;
    ProofWork& work;
    const EngineParts& engine;
    const memory::Budget& budget;
    prover::PlanOptions plan;
  };
  explicit CircuitTable(const Parts& parts) : p_(parts), lost_(parts.engine.devices.size()), loads_(lost_.size()) {}

  /// Made on the first call.
  CircuitRecord& Of(const filecoin::Circuit& circuit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Of a circuit for which Of was called before.
  CircuitRecord& Known(const std::string& id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState) { return circuits_.at(id); }
  /// Whether a device has the parameters.
  bool Live(const filecoin::Circuit& circuit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Whether a device that gets work may still get the parameters: its last attempt did not fail.
  bool MayStillLoad(const CircuitRecord& record) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// The shape, made on the first call; from then on CircuitRecord::fits is known. Blocks; takes the engine's mutex.
  StatusOr<std::shared_ptr<const r1cs::Shape>> ShapeOf(const filecoin::Circuit& circuit, Actor actor);

  /// Parameters that were loaded and have not been used yet, of all circuits but one, for the caller to destroy.
  std::vector<Parameters> TakeFresh(const std::string& except) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// The same of the circuits that no job waits for.
  std::vector<Parameters> TakeUnwanted(const std::set<std::string>& wanted) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Stops loads of a circuit that no job but this one, which is over, waits for.
  void StopUnwantedLoads(const Job& over) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// The device gets no work any more: stops its loads, and returns what it had, for the caller to destroy. What other
  /// devices failed to load is tried again, since jobs may have waited for this device.
  std::vector<LoadedParameters> LoseDevice(size_t device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// Parameters are being loaded on the device. Returns what EndLoad is told when that has ended.
  unsigned BeginLoad(size_t device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  void EndLoad(size_t device, unsigned begun) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);
  /// It gets work again.
  void ReturnDevice(size_t device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(kEngineState);

 private:
  /// Whether the circuit fits on one of the devices and in the budget.
  Status Fits(const filecoin::Circuit& circuit, const r1cs::Shape& shape, uint64_t lease_bytes) const;

  /// Of one device.
  struct Loads {
    int count = 0;            // that go on, but for those that were given up
    unsigned times_lost = 0;  // LoseDevice gives up all that go on
  };

  const Parts p_;
  std::map<std::string, CircuitRecord> circuits_ ABSL_GUARDED_BY(kEngineState);
  std::vector<bool> lost_ ABSL_GUARDED_BY(kEngineState);  // by the number of the device: it gets no work
  std::vector<Loads> loads_ ABSL_GUARDED_BY(kEngineState);
};

}  // namespace cuzk::engine
