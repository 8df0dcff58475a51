#pragma once
// From a lease in device memory to what transforms and sums take. All enqueue and do not synchronise.

#include <cstdint>

#include "core/algebra/field/fr.h"
#include "core/r1cs/layout.h"
#include "gpu/runtime/buffer.h"
#include "gpu/runtime/stream.h"

namespace cuzk::gpu {

/// out[i] = narrow[i] as an element for i < rows, zero for rows <= i < size. 1 byte read, 32 written an element.
Status WidenRows(const int8_t* narrow, uint64_t rows, algebra::Fr* out, uint64_t size, StreamView stream);

/// out[at[i]] = elements[i].
Status Scatter(const algebra::Fr* elements, const uint32_t* at, uint64_t count, algebra::Fr* out, StreamView stream);

/// Rows of a lease in device memory.
struct RowPlanes {
  const std::byte* lease;
  const r1cs::LeaseLayout& layout;
  uint64_t rows;  ///< rows_with_inputs()
  uint64_t size;  ///< of the domain
};
/// out[i] = row i of the matrix, zero from `rows` to `size`. wide_rows: CircuitTables::wide_rows of the matrix.
Status ReadRows(const RowPlanes& planes, r1cs::Matrix matrix, const Buffer<uint32_t>& wide_rows, algebra::Fr* out,
                StreamView stream);

/// The plain layout made narrow: bit i of `bits` is set if aux i is boolean and one; wide[k] is the k-th aux that is
/// not boolean. boolean_ranks[w] is the number of boolean aux below 64 w.
Status NarrowAux(const algebra::Fr* aux, uint64_t count, const uint64_t* boolean, const uint32_t* boolean_ranks,
                 uint64_t* bits, algebra::Fr* wide, StreamView stream);

/// out[i] = source[i] < inputs_count ? inputs[source[i]] : wide[source[i] - inputs_count].
Status GatherScalars(const algebra::Fr* inputs, uint32_t inputs_count, const algebra::Fr* wide, const uint32_t* source,
                     uint64_t count, algebra::Fr* out, StreamView stream);

/// The places of set bits among the members of a query, in a range of points.
struct BitSelection {
  const uint64_t* bits;     ///< the values
  const uint64_t* members;  ///< density of the query; null: every variable
  const uint32_t* ranks;    ///< members below 64 w; null with members
  uint64_t words;
  uint64_t first_point;  ///< the point of the first member
  uint64_t begin, end;   ///< only points in [begin, end); listed less `begin`
};
/// Appends to list from *count (which the caller clears); the order is any.
Status ListSetBits(const BitSelection& selection, uint32_t* list, uint32_t* count, StreamView stream);

/// Decodes `count` big-endian uncompressed points of G1 (96 bytes) or G2 (192 bytes) into Montgomery form and checks
/// that coordinates are below p, that no flag is set, and with `on_curve` the equation. *first_bad becomes the least of
/// its value and first_index + the index of a bad point.
Status DecodePoints(const uint8_t* bytes, uint64_t count, bool g2, bool on_curve, uint64_t first_index, void* out,
                    unsigned long long* first_bad, StreamView stream);

}  // namespace cuzk::gpu
