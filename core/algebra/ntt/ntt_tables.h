#pragma once
// What a Domain precomputes. Internal to the transforms.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/algebra/field/fr.h"
#include "core/algebra/simd/cpu_arithmetic.h"

namespace cuzk::algebra {

/// A constant that a vector of elements is multiplied by, in the form and limbs of the arithmetic that uses it: scalar:
/// the four words of an Fr; IFMA: five limbs of 52 bits of x * 2^260 mod r.
struct NttFactor {
  uint64_t word[5];
};
NttFactor MakeNttFactor(const Fr& x, Arithmetic arithmetic);
/// x in the form in which `arithmetic` multiplies by it, still in four words: x itself, or x * 2^260 mod r.
Fr NttFactorForm(const Fr& x, Arithmetic arithmetic);

/// The twiddle factors of one direction (root w or its inverse) and one shift s (1, or 7, or its inverse).
///
/// The levels are a binary tree of blocks: block b of level l has node number 2^l + b, splits x^(2m) - c^2 into x^m - c
/// and x^m + c with m = n / 2^(l+1), and its factor is c = s^m w_(l+1)^rev_l(b), where w_k is the root of order 2^k.
struct NttTwiddles {
  std::vector<NttFactor> columns;   // by node number: the levels above rows; `rows` entries
  std::vector<Fr> row_roots;        // s w_n^rev(i) of row i in factor form; `rows` entries
  std::vector<NttFactor> reversed;  // the unshifted factors: w_(l+1)^rev_l(b) at b, for every l; max(rows, columns)/2
  Fr shift;                         // s
  Fr root;                          // w
};

struct DomainTables {
  unsigned log2_size;
  unsigned log2_rows;     // 0 for sizes that are transformed in one piece
  unsigned log2_columns;  // the rest
  Arithmetic arithmetic;
  Fr root, root_inverse, size_inverse;
  NttTwiddles forward, inverse, coset_forward, coset_inverse;
};

/// Sizes below 2^kNttSmallLog2 have no tables; they are transformed one element at a time.
inline constexpr unsigned kNttSmallLog2 = 6;

constexpr size_t ReverseBits(size_t x, unsigned bits) {
  size_t r = 0;
  for (unsigned i = 0; i < bits; ++i) r |= (x >> i & 1) << (bits - 1 - i);
  return r;
}

}  // namespace cuzk::algebra
