#pragma once
// Writing parts of a witness at their places: the head, some blocks, the input rows.

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "core/circuit/kinds.h"
#include "core/circuit/poseidon/prepared_hashes.h"

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

/// How blocks are written.
struct WriteOptions {
  ThreadPool& pool;
  algebra::Arithmetic arithmetic;
};

/// Writes block `index` and gives the first relation that does not hold.
template <class Writer, class Circuit>
std::optional<r1cs::Relation> WriteBlock(const Circuit& circuit, const typename Circuit::Head& head, size_t index,
                                         const Stretch& stretch, r1cs::Prepared* prepared) {
  const std::vector<r1cs::Position>& blocks = stretch.shape.blocks;
  Writer writer(stretch.shape, stretch.At(blocks[index]), blocks[index]);
  writer.set_prepared(prepared);
  circuit.MakeBlock(writer, head, index);
  writer.Finish(stretch.At(blocks[index + 1]));
  return writer.broken();
}

/// Blocks [first, last) of a circuit.
struct BlockRange {
  size_t first, last;
};

/// The error of blocks in which a relation is broken, by their numbers; OK if there is none. Of several blocks the
/// first is named, of a PoSt's sectors all are.
template <class Circuit>
Status BlocksError(const Circuit&, size_t first, std::span<const std::optional<r1cs::Relation>> broken) {
  for (size_t i = 0; i < broken.size(); ++i) {
    if (broken[i]) return BrokenRelation(*broken[i], Circuit::kBlockName, first + i);
  }
  return absl::OkStatus();
}
template <class Cs>
Status BlocksError(const PostCircuit<Cs>& circuit, size_t first,
                   std::span<const std::optional<r1cs::Relation>> broken) {
  std::vector<BadSector> sectors;
  for (size_t i = 0; i < broken.size(); ++i) {
    if (broken[i]) sectors.push_back(circuit.Bad(first + i, *broken[i]));
  }
  return sectors.empty() ? absl::OkStatus() : BadSectorsError(std::move(sectors));
}

/// Writes the blocks by all threads of the pool. Errors as of BlocksError.
template <class Writer, class Circuit>
Status WriteBlocks(const Circuit& circuit, const typename Circuit::Head& head, BlockRange range, const Stretch& stretch,
                   const WriteOptions& options) {
  const size_t first = range.first, last = range.last;
  // The head may have written its part of the first shared word already.
  const bool head_before = stretch.begin == r1cs::Position{};
  for (size_t i = head_before ? first + 1 : first; i <= last; ++i) stretch.ClearSharedWord(stretch.shape.blocks[i]);
  std::vector<std::optional<r1cs::Relation>> broken(last - first);
  const bool prepares = Writer::kNativeBodies && options.arithmetic == algebra::Arithmetic::kIfma;
  const size_t together = prepares ? Circuit::kPreparedTogether : 1;
  options.pool.ParallelFor((last - first + together - 1) / together, 1, [&](size_t from, size_t to) {
    for (size_t group = from; group < to; ++group) {
      const size_t begin = first + group * together, end = std::min(begin + together, last);
      PreparedHashes prepared(options.arithmetic);
      if (prepares) circuit.Prepare(begin, end, prepared);
      for (size_t i = begin; i < end; ++i) {
        broken[i - first] = WriteBlock<Writer>(circuit, head, i, stretch, prepares ? &prepared : nullptr);
      }
    }
  });
  return BlocksError(circuit, first, std::span<const std::optional<r1cs::Relation>>(broken));
}

}  // namespace cuzk::circuit::internal
