#include "core/circuit/post_circuit.h"

#include "core/r1cs/checker.h"
#include "core/r1cs/recorder.h"

namespace cuzk::circuit {

template class PostCircuit<r1cs::ShapeRecorder>;
template class PostCircuit<r1cs::WitnessWriter>;
template class PostCircuit<r1cs::PlainBodyWriter>;
template class PostCircuit<r1cs::Checker>;

}  // namespace cuzk::circuit
