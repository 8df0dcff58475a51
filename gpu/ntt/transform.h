#pragma once
// Transforms over Fr on the device, for 2^0 to 2^28 elements, without any permutation pass: natural order in and
// reversed order out, or the other way round (definitions and orders as in core/algebra/ntt/ntt.h).
//
// 2^k elements take one pass over memory for k <= 11 (one block), two for k <= 18, three for k <= 27, four for 2^28. A
// pass does 6 to 9 levels in registers and shared memory (passes.cuh). Twiddle factors between passes come from one
// table of 2^18 roots (16 MB, stays in the second-level cache) and, above 2^18, one more table of up to 2^10 entries.

#include <cstdint>

#include "core/algebra/field/fr.h"
#include "gpu/runtime/buffer.h"
#include "gpu/runtime/stream.h"

namespace cuzk::gpu {

inline constexpr unsigned kMaxLog2Domain = 28;

/// What a transform does to an element at its end, beside the transform itself. In this order:
///   x *= scale              if `scaled`
///   x *= shift^j            if `shift_powers` (j is the coefficient's index; only where coefficients come out)
///   x *= multiply[i]        if given; i is the position in memory
///   x -= subtract[i]        if given
struct Epilogue {
  bool scaled = false;
  algebra::Fr scale{};
  /// 0: none; 1: powers of 7; -1: powers of 1/7.
  int shift_powers = 0;
  const algebra::Fr* multiply = nullptr;
  const algebra::Fr* subtract = nullptr;
};

/// The tables of one domain. Immutable; shared by streams of one card.
class DomainTables {
 public:
  /// Computes the tables on `stream` and waits for them.
  static StatusOr<DomainTables> Make(unsigned log2_size, DeviceMemory& memory, StreamView stream);

  /// Device bytes that Make takes.
  static uint64_t Bytes(unsigned log2_size);

  unsigned log2_size() const { return log2_size_; }
  size_t size() const { return size_t{1} << log2_size_; }

  /// Natural order in, reversed order out; in place. X_i = sum x_j w^(ij), or with w^-1 (without the factor 1/n, which
  /// is an Epilogue's). Enqueues; does not synchronise. Pointers are to size() elements each.
  Status ToReversed(algebra::Fr* values, bool inverse, const Epilogue& end, StreamView stream) const;

  /// Reversed order in, natural order out; in place. Otherwise the same; shift_powers must be 0.
  Status FromReversed(algebra::Fr* values, bool inverse, const Epilogue& end, StreamView stream) const;

  /// values[i] *= 7^j or 7^-j in place, where j is i, or i's reversed bits. Enqueues.
  Status Shift(algebra::Fr* values, bool reversed, bool inverse, StreamView stream) const;

 private:
  DomainTables() = default;
  Status Run(algebra::Fr* values, bool from_reversed, bool inverse, const Epilogue& end, StreamView stream) const;

  unsigned log2_size_ = 0;
  // Of factors (gpu/field/factor.cuh), two elements each.
  Buffer<algebra::Fr> coarse_;    // w^(i 2^fine_bits), i < 2^min(k, 18)
  Buffer<algebra::Fr> fine_;      // w^i, i < 2^fine_bits
  Buffer<algebra::Fr> radix_;     // powers of the root of order 512
  Buffer<algebra::Fr> shift_[2];  // 7^i for i < 2^14, then 7^(i 2^14); the same for 1/7
};

/// out[i] = element at the position whose bits are i's reversed; out of place. For the edges of the interface and
/// tests; the prover never permutes.
Status ReverseOrder(const algebra::Fr* in, algebra::Fr* out, unsigned log2_size, StreamView stream);

}  // namespace cuzk::gpu
