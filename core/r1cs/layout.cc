#include "core/r1cs/layout.h"

namespace cuzk::r1cs {
namespace {

constexpr uint64_t kPlaneAlignment = 256;

/// Appends a plane of `bytes` to a lease of `total` bytes so far.
Plane Append(uint64_t& total, uint64_t bytes) {
  Plane plane{.offset = total, .bytes = bytes};
  total += (bytes + kPlaneAlignment - 1) / kPlaneAlignment * kPlaneAlignment;
  return plane;
}

}  // namespace

std::string_view LayoutName(Layout layout) { return layout == Layout::kPlain ? "plain" : "narrow"; }

LeaseLayout LeaseLayout::ForRange(const Shape& shape, Layout layout, const Position& begin, const Position& end) {
  LeaseLayout result;
  result.layout = layout;
  const bool narrow = layout == Layout::kNarrow;
  const uint64_t rows = end.rows - begin.rows;
  for (size_t m = 0; m < kMatrixCount; ++m) {
    const uint64_t wide = narrow ? shape.wide[m].Rank(end.rows) - shape.wide[m].Rank(begin.rows) : rows;
    result.rows[m].narrow = Append(result.bytes, narrow ? rows : 0);
    result.rows[m].wide = Append(result.bytes, wide * sizeof(Fr));
  }
  const uint64_t aux = end.aux - begin.aux;
  const uint64_t boolean = narrow ? shape.boolean_aux.Rank(end.aux) - shape.boolean_aux.Rank(begin.aux) : 0;
  const uint64_t words = (begin.aux % 64 + aux + 63) / 64;
  result.aux.narrow = Append(result.bytes, narrow ? words * sizeof(uint64_t) : 0);
  result.aux.wide = Append(result.bytes, (aux - boolean) * sizeof(Fr));
  result.inputs = Append(result.bytes, (end.inputs - begin.inputs) * sizeof(Fr));
  return result;
}

LeaseLayout LeaseLayout::For(const Shape& shape, Layout layout) {
  const Position end{shape.counts.inputs, shape.counts.aux, shape.counts.rows_with_inputs()};
  return ForRange(shape, layout, Position{}, end);
}

}  // namespace cuzk::r1cs
