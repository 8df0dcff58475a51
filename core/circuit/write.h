#pragma once
// The writer by its plain bodies, for tests that hold the native ones equal to it.

#include "core/circuit/circuit.h"

namespace cuzk::circuit {

/// As WriteWitness, but every row is evaluated as the circuit's source says. Several times slower.
StatusOr<r1cs::Witness> WriteWitnessPlainBodies(const CircuitSpec& spec, std::shared_ptr<const r1cs::Shape> shape,
                                                r1cs::Layout layout, const PartitionInputs& inputs,
                                                memory::Lease lease, ThreadPool& pool);

}  // namespace cuzk::circuit
