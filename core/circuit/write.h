#pragma once
// The writer by its plain bodies, for tests that hold the native ones equal to it.

#include "core/circuit/circuit.h"

namespace cuzk::circuit {

/// As WriteWitness, but every row is evaluated as the circuit's source says. Several times slower.
StatusOr<r1cs::Witness> WriteWitnessPlainBodies(const CircuitSpec& spec, const PartitionInputs& inputs,
                                                WitnessPlace place, ThreadPool& pool);

}  // namespace cuzk::circuit
