#pragma once
// What is known of a circuit without a witness: counts, densities, and how large each row and variable can become.

#include <array>
#include <cstdint>
#include <vector>

#include "core/r1cs/variable.h"

namespace cuzk::r1cs {

/// A set of indices below size(): a bitmap (least significant bit first) with the number of members before each block
/// of 512, so that the position of a member within the set is found at once.
class IndexSet {
 public:
  static constexpr uint64_t kRankBlock = 512;

  IndexSet() = default;
  /// Takes a bitmap of (size + 63) / 64 words whose bits from `size` on are zero.
  IndexSet(uint64_t size, std::vector<uint64_t> words);

  uint64_t size() const { return size_; }
  /// The number of members.
  uint64_t count() const { return count_; }
  bool Contains(uint64_t i) const { return words_[i / 64] >> (i % 64) & 1; }
  /// The number of members below i; i <= size().
  uint64_t Rank(uint64_t i) const;

  /// The bitmap; bits from size() on are zero.
  const std::vector<uint64_t>& words() const { return words_; }
  /// ranks()[k] = Rank(512 k); one more entry than blocks.
  const std::vector<uint32_t>& ranks() const { return ranks_; }
  /// The members in ascending order. Four bytes each: for a set that is nearly full, use the bitmap.
  std::vector<uint32_t> ToList() const;

  friend bool operator==(const IndexSet&, const IndexSet&) = default;

 private:
  uint64_t size_ = 0;
  uint64_t count_ = 0;
  std::vector<uint64_t> words_;
  std::vector<uint32_t> ranks_;
};

/// A place in the circuit: how much has been allocated and enforced before it.
struct Position {
  uint32_t inputs = 0;  ///< includes ONE
  uint32_t aux = 0;
  uint64_t rows = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

struct ShapeCounts {
  uint32_t inputs = 0;  ///< includes ONE
  uint32_t aux = 0;
  uint64_t rows = 0;                         ///< the circuit's own
  std::array<uint64_t, kMatrixCount> nnz{};  ///< non-zero terms of A, B, C in the circuit's own rows

  /// With the row x * 0 = 0 that generator and prover append for each input, in order.
  uint64_t rows_with_inputs() const { return rows + inputs; }
  /// The evaluation domain is the smallest power of two that is at least rows_with_inputs().
  unsigned log2_domain() const;
  friend bool operator==(const ShapeCounts&, const ShapeCounts&) = default;
};

/// Immutable once made; shared by every proof of the circuit. About one byte per row and variable.
///
/// A row's side is narrow if its bounds (a boolean variable is 0 or 1, ONE is 1, everything else is a whole field
/// element) lie in -128..127, else wide. Input rows are counted as rows here: the sets `wide` have rows_with_inputs()
/// indices.
struct Shape {
  ShapeCounts counts;
  IndexSet a_aux;                           ///< aux that occur in some A (every input counts as occurring in A)
  IndexSet b_aux;                           ///< aux that occur in some B
  IndexSet b_input;                         ///< inputs that occur in some B
  IndexSet boolean_aux;                     ///< aux that are 0 or 1
  std::array<IndexSet, kMatrixCount> wide;  ///< per matrix: the rows that do not fit in a signed byte
  /// Where the independent blocks (challenges, sectors) begin, the head before the first, and the end.
  std::vector<Position> blocks;

  /// Aux that take a whole field element.
  uint64_t wide_aux_count() const { return counts.aux - boolean_aux.count(); }
};

}  // namespace cuzk::r1cs
