#pragma once
// The position of each part of a witness in its lease.

#include <array>
#include <cstdint>
#include <string_view>

#include "core/r1cs/shape.h"

namespace cuzk::r1cs {

/// kPlain: 32 bytes for everything; the reference. kNarrow: a byte per row and a bit per variable wherever the shape's
/// bounds allow, 32 bytes for the rest.
enum class Layout : uint8_t { kPlain, kNarrow };
std::string_view LayoutName(Layout layout);  ///< "plain", "narrow"

/// A run of bytes in the lease; `offset` is a multiple of 256.
struct Plane {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// Elements are Montgomery Fr, 32 bytes.
///
///             narrow plane                                   wide plane
/// kPlain      empty                                          one element per row of rows_with_inputs() / per aux
/// kNarrow     rows: an int8 for EVERY row, 0 where wide      an element per wide row, in row order
///             aux: a bit for EVERY aux, least significant    an element per aux that is not boolean, in order
///             first in 64-bit words, 0 where not boolean
struct PlanePair {
  Plane narrow;
  Plane wide;
};

/// The table of a lease.
struct LeaseLayout {
  Layout layout = Layout::kPlain;
  std::array<PlanePair, kMatrixCount> rows;  ///< a, b, c
  PlanePair aux;
  Plane inputs;        ///< an element per input, ONE first
  uint64_t bytes = 0;  ///< the size of the lease

  static LeaseLayout For(const Shape& shape, Layout layout);
  /// The layout of the part of a witness between two positions (rows, aux and inputs from `begin` on, up to `end`), for
  /// work on one piece at a time. The bits of the narrow aux plane begin at bit begin.aux % 64 of its first word.
  static LeaseLayout ForRange(const Shape& shape, Layout layout, const Position& begin, const Position& end);
};

}  // namespace cuzk::r1cs
