#pragma once
// From a witness in device memory, whole or in pieces, to what transforms and sums take. All enqueue and do not
// synchronise.

#include <cstddef>
#include <cstdint>

#include "core/algebra/field/fr.h"
#include "gpu/runtime/buffer.h"
#include "gpu/runtime/stream.h"

namespace cuzk::gpu {

/// A set of indices in device memory: its bits, least significant first, and the number of members below 64 w.
struct RankedBits {
  const uint64_t* words = nullptr;
  const uint32_t* ranks = nullptr;
};

/// Rows [first, first + count) of one matrix in device memory, in either layout. Narrow: a byte for every row, and the
/// wide ones among them as elements. Plain: `narrow` is null and `wide` has an element for every row.
struct RowPiece {
  const int8_t* narrow = nullptr;
  const algebra::Fr* wide = nullptr;
  uint64_t first = 0;
  uint64_t count = 0;
  uint64_t wide_before = 0;  ///< wide rows before `first`
};
/// out[i] = row i for the rows of the piece; `wide_rows` are the matrix's. Up to 33 bytes read, 32 written a row.
Status WidenRows(const RowPiece& piece, const RankedBits& wide_rows, algebra::Fr* out, StreamView stream);

/// Aux [first, first + count) in the plain layout.
struct PlainAux {
  const algebra::Fr* values = nullptr;  ///< of `first` and after
  uint64_t first = 0;                   ///< a multiple of 64
  uint64_t count = 0;
  uint64_t whole_before = 0;  ///< aux before `first` that are not boolean
};
/// The piece made narrow: bit i of `bits` (which begin with aux 0) is set if aux i is boolean and one; the aux that are
/// not boolean follow each other in `whole`. `bits` is null where only `whole` is wanted.
Status NarrowAux(const PlainAux& piece, const RankedBits& boolean, uint64_t* bits, algebra::Fr* whole,
                 StreamView stream);

/// Which variables a query has, and where its terms with whole scalars are: kernels' view of CircuitTables.
struct TermTables {
  RankedBits boolean;
  RankedBits members;                    ///< aux of the query; words null: all of them
  const uint32_t* term_ranks = nullptr;  ///< members that are not boolean, below 64 w; null with `members`
  const uint32_t* input_list = nullptr;  ///< inputs of the query, ascending; they come before every aux
  uint32_t inputs = 0;                   ///< how many
};

/// Aux [begin, end) of one query; with begin = 0 the query's inputs too. What is before the range in the numbering of
/// terms, points and whole values is subtracted from theirs.
struct TermRange {
  uint64_t begin = 0, end = 0;  ///< begin is a multiple of 64
  uint64_t first_term = 0, first_point = 0, first_whole = 0;
};
/// The terms of the range: scalars[k], and points[k] (not if null) which point of the section, less the range's first.
/// `whole` holds the whole values of the range. `inputs` are all inputs.
Status GatherTerms(const TermTables& tables, const TermRange& range, const algebra::Fr* inputs,
                   const algebra::Fr* whole, algebra::Fr* scalars, uint32_t* points, StreamView stream);

/// The points of the range's terms, one after the other. `points` begins with the range's first point; bytes per point
/// are 96 or 192. Reads and writes each such point once.
Status CompactPoints(const TermTables& tables, const TermRange& range, const std::byte* points, uint32_t point_bytes,
                     std::byte* out, StreamView stream);

/// Appends the points of the range's variables whose bit is set, less the range's first, to list from *count (which the
/// caller clears); the order is any.
Status ListSetBits(const TermTables& tables, const TermRange& range, const uint64_t* bits, uint32_t* list,
                   uint32_t* count, StreamView stream);

/// Decodes `count` big-endian uncompressed points of G1 (96 bytes) or G2 (192 bytes) into Montgomery form and checks
/// that coordinates are below p, that no flag is set, and with `on_curve` the equation. *first_bad becomes the least of
/// its value and first_index + the index of a bad point.
Status DecodePoints(const uint8_t* bytes, uint64_t count, bool g2, bool on_curve, uint64_t first_index, void* out,
                    unsigned long long* first_bad, StreamView stream);

}  // namespace cuzk::gpu
