#include "core/circuit/write.h"

#include <optional>

#include "core/circuit/kinds.h"

namespace cuzk::circuit {
namespace {

using r1cs::LeaseLayout;
using r1cs::Position;
using r1cs::Relation;
using r1cs::WriterStreams;

Status Broken(const Relation& relation, const char* block, int64_t index) {
  std::string text = block != nullptr ? StrCat(block, " ", index, ": ", relation.subject) : std::string(relation.subject);
  if (relation.index >= 0) text += StrCat(" ", relation.index);
  return absl::InvalidArgumentError(StrCat(text, ": ", relation.failing));
}

/// ONE, and after the blocks the rows x * 0 = 0 of the inputs.
void WriteInputRows(const r1cs::Shape& shape, const LeaseLayout& layout, std::byte* memory) {
  const auto* inputs = reinterpret_cast<const Fr*>(memory + layout.inputs.offset);
  const Position at{0, 0, shape.counts.rows};
  WriterStreams streams = WriterStreams::At(shape, layout, Position{}, memory, at);
  for (uint32_t i = 0; i < shape.counts.inputs; ++i) {
    if (i == 0) {
      streams.rows[0].Push(int8_t{1});
    } else {
      streams.rows[0].Push(inputs[i]);
    }
    streams.rows[1].Push(int8_t{0});
    streams.rows[2].Push(int8_t{0});
  }
}

/// Writes the head into the lease and gives it to those who write blocks.
template <class Circuit, class Writer>
StatusOr<typename Circuit::Head> WriteHead(const Circuit& circuit, const r1cs::Shape& shape, const LeaseLayout& layout,
                                           std::byte* memory) {
  const Position begin{1, 0, 0};
  auto at = [&](const Position& p) { return WriterStreams::At(shape, layout, Position{}, memory, p); };
  *(at(begin).inputs - 1) = Fr::One();
  Writer writer(shape, at(begin), begin);
  auto head = circuit.MakeHead(writer);
  writer.Finish(at(shape.blocks.front()));
  if (writer.broken()) return Broken(*writer.broken(), nullptr, 0);
  return head;
}

template <class Writer, class Spec>
StatusOr<r1cs::Witness> Write(const Spec& spec, std::shared_ptr<const r1cs::Shape> shape, r1cs::Layout which,
                              const PartitionInputs& inputs, memory::Lease lease, ThreadPool& pool) {
  using Circuit = typename Kind<Spec>::template Circuit<Writer>;
  CUZK_ASSIGN_OR_RETURN(const auto* own, InputsFor(spec, inputs));
  const Circuit circuit(spec, own);
  const LeaseLayout layout = LeaseLayout::For(*shape, which);
  const uint64_t count = circuit.BlockCount();
  CUZK_CHECK(lease.bytes().size() >= layout.bytes && shape->blocks.size() == count + 1);
  std::byte* memory = lease.bytes().data();
  for (const Position& p : shape->blocks) r1cs::ClearSharedWord(layout, Position{}, memory, p);
  CUZK_ASSIGN_OR_RETURN(const auto head, (WriteHead<Circuit, Writer>(circuit, *shape, layout, memory)));

  std::vector<std::optional<Relation>> broken(count);
  pool.ParallelFor(count, 1, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      const Position& begin = shape->blocks[i];
      Writer writer(*shape, WriterStreams::At(*shape, layout, Position{}, memory, begin), begin);
      circuit.MakeBlock(writer, head, i);
      writer.Finish(WriterStreams::At(*shape, layout, Position{}, memory, shape->blocks[i + 1]));
      broken[i] = writer.broken();
    }
  });
  for (size_t i = 0; i < count; ++i) {
    if (broken[i]) return Broken(*broken[i], Circuit::kBlockName, static_cast<int64_t>(i));
  }
  WriteInputRows(*shape, layout, memory);
  return r1cs::Witness(std::move(shape), which, std::move(lease));
}

template <class Writer>
StatusOr<r1cs::Witness> WriteAny(const CircuitSpec& spec, std::shared_ptr<const r1cs::Shape> shape, r1cs::Layout layout,
                                 const PartitionInputs& inputs, memory::Lease lease, ThreadPool& pool) {
  CUZK_RETURN_IF_ERROR(CheckSpec(spec));
  return std::visit(
      [&](const auto& one) {
        return Write<Writer>(one, std::move(shape), layout, inputs, std::move(lease), pool);
      },
      spec);
}

}  // namespace

StatusOr<r1cs::Witness> WriteWitness(const CircuitSpec& spec, std::shared_ptr<const r1cs::Shape> shape,
                                     r1cs::Layout layout, const PartitionInputs& inputs, memory::Lease lease,
                                     ThreadPool& pool) {
  return WriteAny<r1cs::WitnessWriter>(spec, std::move(shape), layout, inputs, std::move(lease), pool);
}

StatusOr<r1cs::Witness> WriteWitnessPlainBodies(const CircuitSpec& spec, std::shared_ptr<const r1cs::Shape> shape,
                                                r1cs::Layout layout, const PartitionInputs& inputs,
                                                memory::Lease lease, ThreadPool& pool) {
  return WriteAny<r1cs::PlainBodyWriter>(spec, std::move(shape), layout, inputs, std::move(lease), pool);
}

}  // namespace cuzk::circuit
