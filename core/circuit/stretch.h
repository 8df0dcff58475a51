#pragma once
// Writing parts of a witness at their places: the head, some blocks, the input rows.

#include <optional>
#include <span>
#include <vector>

#include "core/circuit/kinds.h"

namespace cuzk::circuit::internal {

/// Memory for the part of a witness from `begin` on, laid out as `planes` says.
struct Stretch {
  const r1cs::Shape& shape;
  const r1cs::LeaseLayout planes;
  const r1cs::Position begin;
  std::byte* const memory;

  r1cs::WriterStreams At(const r1cs::Position& p) const {
    return r1cs::WriterStreams::At(shape, planes, begin, memory, p);
  }
  void ClearSharedWord(const r1cs::Position& p) const { r1cs::ClearSharedWord(planes, begin, memory, p); }
};

/// InvalidArgument: "challenge 7: comm_r_last path: does not lead to its root". `block` is null for the head.
Status BrokenRelation(const r1cs::Relation& relation, const char* block, uint64_t index);

/// The rows x * 0 = 0 that stand behind the circuit's own; `inputs` has ONE first.
void WriteInputRows(const Stretch& stretch, std::span<const Fr> inputs);

/// Writes ONE and the head, and gives the head to those who write blocks.
template <class Writer, class Circuit>
StatusOr<typename Circuit::Head> WriteHead(const Circuit& circuit, const Stretch& stretch) {
  const r1cs::Position begin{1, 0, 0}, end = stretch.shape.blocks.front();
  const r1cs::WriterStreams streams = stretch.At(begin);
  *(streams.inputs - 1) = Fr::One();
  stretch.ClearSharedWord(end);
  Writer writer(stretch.shape, streams, begin);
  auto head = circuit.MakeHead(writer);
  writer.Finish(stretch.At(end));
  if (writer.broken()) return BrokenRelation(*writer.broken(), nullptr, 0);
  return head;
}

/// Writes blocks [first, last) by all threads of the pool. Of several broken relations the first is named.
template <class Writer, class Circuit>
Status WriteBlocks(const Circuit& circuit, const typename Circuit::Head& head, size_t first, size_t last,
                   const Stretch& stretch, ThreadPool& pool) {
  const std::vector<r1cs::Position>& blocks = stretch.shape.blocks;
  // The head may have written its part of the first shared word already.
  const bool head_before = stretch.begin == r1cs::Position{};
  for (size_t i = head_before ? first + 1 : first; i <= last; ++i) stretch.ClearSharedWord(blocks[i]);
  std::vector<std::optional<r1cs::Relation>> broken(last - first);
  pool.ParallelFor(last - first, 1, [&](size_t from, size_t to) {
    for (size_t i = first + from; i < first + to; ++i) {
      Writer writer(stretch.shape, stretch.At(blocks[i]), blocks[i]);
      circuit.MakeBlock(writer, head, i);
      writer.Finish(stretch.At(blocks[i + 1]));
      broken[i - first] = writer.broken();
    }
  });
  for (size_t i = 0; i < broken.size(); ++i) {
    if (broken[i]) return BrokenRelation(*broken[i], Circuit::kBlockName, first + i);
  }
  return absl::OkStatus();
}

}  // namespace cuzk::circuit::internal
