#include "core/r1cs/writer.h"

namespace cuzk::r1cs {

WriterStreams WriterStreams::At(const Shape& shape, const LeaseLayout& layout, const Position& begin, std::byte* memory,
                                const Position& at) {
  auto elements = [memory](const Plane& plane) { return reinterpret_cast<Fr*>(memory + plane.offset); };
  const bool narrow = layout.layout == Layout::kNarrow;
  const uint64_t rows = at.rows - begin.rows;
  WriterStreams streams;
  for (size_t m = 0; m < kMatrixCount; ++m) {
    const IndexSet& wide = shape.wide[m];
    const uint64_t before = narrow ? wide.Rank(at.rows) - wide.Rank(begin.rows) : rows;
    auto* bytes = reinterpret_cast<int8_t*>(memory + layout.rows[m].narrow.offset);
    streams.rows[m] = RowStream(narrow ? bytes + rows : nullptr, elements(layout.rows[m].wide) + before);
  }
  const uint64_t aux = at.aux - begin.aux;
  if (narrow) {
    const uint64_t boolean = shape.boolean_aux.Rank(at.aux) - shape.boolean_aux.Rank(begin.aux);
    auto* words = reinterpret_cast<uint64_t*>(memory + layout.aux.narrow.offset);
    const uint64_t bit = begin.aux % 64 + aux;
    streams.aux = AuxStream(words + bit / 64, bit % 64, elements(layout.aux.wide) + (aux - boolean));
  } else {
    streams.aux = AuxStream(nullptr, 0, elements(layout.aux.wide) + aux);
  }
  streams.inputs = elements(layout.inputs) + (at.inputs - begin.inputs);
  return streams;
}

void ClearSharedWord(const LeaseLayout& layout, const Position& begin, std::byte* memory, const Position& at) {
  if (layout.layout != Layout::kNarrow || at.aux % 64 == 0) return;
  auto* words = reinterpret_cast<uint64_t*>(memory + layout.aux.narrow.offset);
  words[(begin.aux % 64 + (at.aux - begin.aux)) / 64] = 0;
}

}  // namespace cuzk::r1cs
