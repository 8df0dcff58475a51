#include "core/circuit/porep_circuit.h"

#include "core/r1cs/checker.h"
#include "core/r1cs/recorder.h"

namespace cuzk::circuit {

template class PorepCircuit<r1cs::ShapeRecorder>;
template class PorepCircuit<r1cs::WitnessWriter>;
template class PorepCircuit<r1cs::PlainBodyWriter>;
template class PorepCircuit<r1cs::Checker>;

}  // namespace cuzk::circuit
