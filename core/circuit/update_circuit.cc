#include "core/circuit/update_circuit.h"

#include "core/r1cs/checker.h"
#include "core/r1cs/recorder.h"

namespace cuzk::circuit {

template class UpdateCircuit<r1cs::ShapeRecorder>;
template class UpdateCircuit<r1cs::WitnessWriter>;
template class UpdateCircuit<r1cs::PlainBodyWriter>;
template class UpdateCircuit<r1cs::Checker>;

}  // namespace cuzk::circuit
