#include "core/circuit/write.h"

#include "core/circuit/stretch.h"

namespace cuzk::circuit {
namespace internal {

Status BrokenRelation(const r1cs::Relation& relation, const char* block, uint64_t index) {
  std::string text =
      block != nullptr ? StrCat(block, " ", index, ": ", relation.subject) : std::string(relation.subject);
  if (relation.index >= 0) text += StrCat(" ", relation.index);
  return absl::InvalidArgumentError(StrCat(text, ": ", relation.failing));
}

void WriteInputRows(const Stretch& stretch, std::span<const Fr> inputs) {
  r1cs::WriterStreams streams = stretch.At(stretch.shape.blocks.back());
  for (const Fr& input : inputs) {
    if (&input == inputs.data()) {
      streams.rows[0].Push(int8_t{1});
    } else {
      streams.rows[0].Push(input);
    }
    streams.rows[1].Push(int8_t{0});
    streams.rows[2].Push(int8_t{0});
  }
}

}  // namespace internal

namespace {

using r1cs::LeaseLayout;
using r1cs::Position;

template <class Writer, class Spec>
StatusOr<r1cs::Witness> Write(const Spec& spec, const PartitionInputs& inputs, WitnessPlace place,
                              const internal::WriteOptions& options) {
  auto& [shape, layout, lease] = place;
  CUZK_ASSIGN_OR_RETURN(const auto* own, InputsFor(spec, inputs));
  const typename Kind<Spec>::template Circuit<Writer> circuit(spec, own);
  const internal::Stretch stretch{*shape, LeaseLayout::For(*shape, layout), Position{}, lease.bytes().data()};
  CUZK_CHECK(lease.bytes().size() >= stretch.planes.bytes && shape->blocks.size() == circuit.BlockCount() + 1);
  CUZK_ASSIGN_OR_RETURN(const auto head, internal::WriteHead<Writer>(circuit, stretch));
  CUZK_RETURN_IF_ERROR(internal::WriteBlocks<Writer>(circuit, head, {0, circuit.BlockCount()}, stretch, options));
  const auto* public_inputs = reinterpret_cast<const Fr*>(stretch.memory + stretch.planes.inputs.offset);
  internal::WriteInputRows(stretch, {public_inputs, shape->counts.inputs});
  return r1cs::Witness(std::move(shape), layout, std::move(lease));
}

template <class Writer>
StatusOr<r1cs::Witness> WriteAny(const CircuitSpec& spec, const PartitionInputs& inputs, WitnessPlace place,
                                 const internal::WriteOptions& options) {
  CUZK_RETURN_IF_ERROR(CheckSpec(spec));
  return std::visit([&](const auto& one) { return Write<Writer>(one, inputs, std::move(place), options); }, spec);
}

}  // namespace

StatusOr<r1cs::Witness> WriteWitness(const CircuitSpec& spec, const PartitionInputs& inputs, WitnessPlace place,
                                     ThreadPool& pool, algebra::Arithmetic arithmetic) {
  return WriteAny<r1cs::WitnessWriter>(spec, inputs, std::move(place), {pool, arithmetic});
}

StatusOr<r1cs::Witness> WriteWitnessPlainBodies(const CircuitSpec& spec, const PartitionInputs& inputs,
                                                WitnessPlace place, ThreadPool& pool) {
  return WriteAny<r1cs::PlainBodyWriter>(spec, inputs, std::move(place), {pool, algebra::Arithmetic::kScalar});
}

}  // namespace cuzk::circuit
