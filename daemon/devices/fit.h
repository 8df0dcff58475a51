#pragma once
// How a circuit would be proved on a card, computed without one.

#include <cstdint>
#include <string>

#include "core/base/status.h"
#include "core/filecoin/types/registry.h"
#include "core/r1cs/shape.h"

namespace cuzk::daemon {

struct FitCard {
  uint64_t memory_bytes = 0;  ///< that the daemon may use
  uint64_t shared_bytes = 0;  ///< shared memory of a multiprocessor
  unsigned workers = 2;       ///< partitions at once, if they fit
};

struct CircuitFit {
  enum class Place { kResident, kStreamed, kNo } place = Place::kNo;
  unsigned workers = 0;              ///< partitions at once
  uint64_t device_bytes = 0;         ///< with all partitions at work; kNo: what there is is less than is needed
  uint64_t host_bytes = 0;           ///< page-locked for the parameters, without leases
  uint64_t partition_bus_bytes = 0;  ///< to the card for a partition alone
  uint64_t proof_bus_bytes = 0;      ///< to the card for a whole proof
  std::string explanation;           ///< a line for people
};
/// "resident", "streamed", "no".
std::string_view PlaceName(CircuitFit::Place place);

/// Partitions of one proof of the circuit.
uint32_t PartitionsOf(const filecoin::Circuit& circuit);

/// With the default layout of leases, and no other circuit on the card. Unavailable: this build has no CUDA back end.
StatusOr<CircuitFit> FitCircuit(const r1cs::Shape& shape, uint32_t partitions, const FitCard& card);

}  // namespace cuzk::daemon
