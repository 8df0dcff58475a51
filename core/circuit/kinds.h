#pragma once
// Which circuit belongs to which parameters, for code that serves all of them. The circuits are compiled in files of
// their own.

#include "core/circuit/circuit.h"
#include "core/circuit/porep_circuit.h"
#include "core/circuit/post_circuit.h"
#include "core/circuit/update_circuit.h"
#include "core/r1cs/checker.h"
#include "core/r1cs/recorder.h"

namespace cuzk::circuit {

#define CUZK_DECLARE_CIRCUIT(Circuit)                   \
  extern template class Circuit<r1cs::ShapeRecorder>;   \
  extern template class Circuit<r1cs::WitnessWriter>;   \
  extern template class Circuit<r1cs::PlainBodyWriter>; \
  extern template class Circuit<r1cs::Checker>
CUZK_DECLARE_CIRCUIT(PorepCircuit);
CUZK_DECLARE_CIRCUIT(PostCircuit);
CUZK_DECLARE_CIRCUIT(UpdateCircuit);
#undef CUZK_DECLARE_CIRCUIT

template <class Spec>
struct Kind;
template <>
struct Kind<PorepSpec> {
  using Inputs = PorepInputs;
  template <class Cs>
  using Circuit = PorepCircuit<Cs>;
};
template <>
struct Kind<PostSpec> {
  using Inputs = PostInputs;
  template <class Cs>
  using Circuit = PostCircuit<Cs>;
};
template <>
struct Kind<UpdateSpec> {
  using Inputs = UpdateInputs;
  template <class Cs>
  using Circuit = UpdateCircuit<Cs>;
};

/// The whole circuit, in order, on one system.
template <class Circuit, class Cs>
void MakeAll(const Circuit& circuit, Cs& cs) {
  const auto head = circuit.MakeHead(cs);
  for (uint64_t i = 0; i < circuit.BlockCount(); ++i) {
    [[maybe_unused]] auto scope = cs.Scope(Circuit::kBlockName, static_cast<int64_t>(i));
    circuit.MakeBlock(cs, head, i);
  }
}

/// INVALID_ARGUMENT if the inputs do not have the counts and lengths of the spec.
Status CheckInputs(const PorepSpec& spec, const PorepInputs& inputs);
Status CheckInputs(const PostSpec& spec, const PostInputs& inputs);
Status CheckInputs(const UpdateSpec& spec, const UpdateInputs& inputs);

/// The inputs of the spec's kind; INVALID_ARGUMENT if they are another kind's or of other lengths.
template <class Spec>
StatusOr<const typename Kind<Spec>::Inputs*> InputsFor(const Spec& spec, const PartitionInputs& inputs) {
  const auto* own = std::get_if<typename Kind<Spec>::Inputs>(&inputs);
  if (own == nullptr) return absl::InvalidArgumentError("the inputs belong to another kind of circuit");
  CUZK_RETURN_IF_ERROR(CheckInputs(spec, *own));
  return own;
}

}  // namespace cuzk::circuit
